#pragma once
#include <qrencode.h>
#include <zlib.h>
