-- Serves the one document of all public paths. It is longer than HAProxy's buffers, which "http-request return" cannot
-- go beyond; a service written in Lua is sent piece by piece. Read once, at the start and at each reload.

local file = assert(io.open("openapi.yaml", "rb"), "openapi.yaml is not beside haproxy.cfg")
local document = file:read("a")
file:close()

core.register_service("openapi", "http", function(applet)
    applet:set_status(200)
    applet:add_header("content-type", "application/yaml")
    applet:add_header("content-length", tostring(#document))
    applet:add_header("cache-control", "public, max-age=300")
    applet:start_response()
    applet:send(document)
end)
