#!/usr/bin/env python3
"""Prints the text of the one QR code in a picture, as zbar reads it."""
import sys

from PIL import Image
from pyzbar import pyzbar

found = pyzbar.decode(Image.open(sys.argv[1]).convert("L"), symbols=[pyzbar.ZBarSymbol.QRCODE])
if len(found) != 1:
    sys.exit(f"{len(found)} codes found")
print(found[0].data.decode())
