-- What HAProxy's rules cannot do. Files are read once, at the start and at each reload.

local function contents(name)
    local file = assert(io.open(name, "rb"), name .. " is not beside haproxy.cfg")
    local text = file:read("a")
    file:close()
    return text
end

local function answer(applet, status, kind, text)
    applet:set_status(status)
    applet:add_header("content-type", kind)
    applet:add_header("content-length", tostring(#text))
    applet:start_response()
    if applet.method ~= "HEAD" then
        applet:send(text)
    end
end

-- The one document of all public paths. It is longer than HAProxy's buffers, which "http-request return" cannot go
-- beyond; a service in Lua sends it piece by piece.
local document = contents("openapi.yaml")

core.register_service("openapi", "http", function(applet)
    applet:add_header("cache-control", "public, max-age=300")
    answer(applet, 200, "application/yaml", document)
end)

-- Refuses a request whose body is still coming. Over HTTP/2, "deny" and "return" then cancel the stream before their
-- answer is on its way, and clients never learn why.
local more = { [401] = { "www-authenticate", "Bearer" }, [429] = { "retry-after", "10" } }
local refusals = {}
for _, status in ipairs({ 401, 413, 429 }) do
    refusals[status] = contents("errors/" .. status .. ".json")
end

core.register_service("refuse", "http", function(applet)
    local status = applet:get_var("txn.refusal")
    if more[status] then
        applet:add_header(more[status][1], more[status][2])
    end
    if status == 429 then
        applet:add_header("ratelimit-policy", applet:get_var("txn.policy"))
    end
    local text = refusals[status]:gsub("%%%[var%(txn%.(%a+)%)%]", function(name)
        return applet:get_var("txn." .. name)
    end)
    answer(applet, status, "application/vnd.api+json", text)
end)
