-- Answers for epmd: every name that is asked for is there, at the port that the configuration has set. A question is
-- two bytes with the length, one byte that says what is asked (122: the port of a name), and the name.
core.register_service("erlang_name", "tcp", function(applet)
    local head = applet:receive(2)
    if not head or #head < 2 then
        return
    end
    local question = applet:receive(head:byte(1) * 256 + head:byte(2))
    if not question or question:byte(1) ~= 122 then
        return
    end
    local name = question:sub(2)
    -- 119 and 0: found. 77: a node that others may see; 0: TCP; 6 and 5: the versions of the protocol it may speak.
    applet:send(string.pack(">BBI2BBI2I2s2s2", 119, 0, applet:get_var("sess.port"), 77, 0, 6, 5, name, ""))
end)
