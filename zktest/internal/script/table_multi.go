package script

import (
	"strconv"

	"github.com/zkrecipes/zkrecipes/internal/jute"
	"github.com/zkrecipes/zkrecipes/zktest"
)

func quote(s string) string { return strconv.QuoteToASCII(s) }

func multis() []Script {
	reads := func(parts ...Step) Step { return Step{Op: zktest.OpMultiRead, Parts: parts} }
	return []Script{
		named("multi of everything", multi(create("/a", 0), create2("/b", 1), set("/a", "x", 0), check("/a", 1), remove("/b", 0)), read(zktest.OpGetData, "/a")),
		named("multi of nothing", multi(), reads(), read(zktest.OpExists, "")),
		named("multi fails first", multi(check("/none", -1), create("/a", 0)), read(zktest.OpExists, "/a")),
		named("multi fails in the middle", multi(create("/a", 0), set("/a", "x", 5), create("/b", 0)), read(zktest.OpExists, "/a"), read(zktest.OpExists, "")),
		named("multi fails last", multi(create("/a", 0), create("/a/b", 3), remove("/a", -1)), read(zktest.OpExists, "/a"), read(zktest.OpExists, "")),
		named("multi undone", create("/a", 0), create("/a/b", 1), multi(remove("/a/b", -1), set("/a", "x", -1), remove("/a", -1), create("/a", 0), check("/a", 7)),
			read(zktest.OpGetData, "/a"), read(zktest.OpExists, "/a/b"), read(zktest.OpGetEphemerals, ""), read(zktest.OpExists, "")),
		named("multi of containers", multi(create("/c", 4), containerNode("/d"), Step{Op: zktest.OpCreateContainer, Path: "/e"}), read(zktest.OpGetChildren2, "")),
		named("multi of times to live", multi(ttlNode("/t", 5, 1000), ttlNode("/t-", 6, 1000)), multi(ttlNode("/u", 5, 0)), multi(ttlNode("/u", 0, 1000)),
			multi(create("/v", 5)), read(zktest.OpGetChildren2, "")),
		named("multi with bad flags", multi(create("/a", 9)), multi(create2("/a", -1), create("/b", 0))),
		named("multi and the same node", multi(create("/a", 0), remove("/a", -1), create("/a", 1), set("/a", "1", 0), set("/a", "2", 1), check("/a", 2)),
			read(zktest.OpGetData, "/a"), read(zktest.OpExists, "")),
		named("multi mixes reads", multi(create("/a", 0), read(zktest.OpGetData, "/a")), read(zktest.OpExists, "/a"), reads(read(zktest.OpGetData, ""), create("/a", 0)),
			reads(read(zktest.OpExists, "")), read(zktest.OpExists, "/a")),
		named("multi of setACL", multi(setACL("", -1, grant(31, "world", "anyone"))), read(zktest.OpExists, "")),
		named("multi read", create("/a", 0), set("/a", "x", 0), create("/a/b", 0), reads(read(zktest.OpGetData, "/a"), read(zktest.OpGetChildren, "/a"),
			read(zktest.OpGetData, "/none"), read(zktest.OpGetChildren, "/none"))),
		named("multi read and permissions", Step{Op: zktest.OpCreate, Path: "/a", ACL: []jute.ACL{grant(30, "world", "anyone")}},
			reads(read(zktest.OpGetData, "/a"), read(zktest.OpGetChildren, ""))),
		named("multi rings watches in order", addWatch("", 1), by(1, watched(zktest.OpGetChildren, "")), by(2, watched(zktest.OpExists, "/a")),
			multi(create("/a", 0), set("/a", "x", 0), create("/b", 0), remove("/a", -1)), multi(create("/c", 0), check("/none", 0)), by(1, remove("/b", -1))),
		named("check and permissions", Step{Op: zktest.OpCreate, Path: "/a", ACL: []jute.ACL{grant(30, "world", "anyone")}}, multi(check("/a", 0))),
	}
}

func acls() []Script {
	me := grant(31, "digest", digestMeSecret)
	return []Script{
		named("acl forms", Step{Op: zktest.OpCreate, Path: "/a", ACL: []jute.ACL{}}, Step{Op: zktest.OpCreate, Path: "/a", ACL: []jute.ACL{grant(31, "auth", "")}},
			Step{Op: zktest.OpCreate, Path: "/a", ACL: []jute.ACL{grant(31, "none", "x")}}, Step{Op: zktest.OpCreate, Path: "/a", ACL: []jute.ACL{grant(31, "world", "me")}},
			Step{Op: zktest.OpCreate, Path: "/a", ACL: []jute.ACL{grant(31, "digest", "nocolon")}}, Step{Op: zktest.OpCreate, Path: "/a", ACL: []jute.ACL{grant(31, "digest", "a:b:c")}},
			Step{Op: zktest.OpCreate, Path: "/a", ACL: []jute.ACL{grant(31, "digest", "a:")}}, Step{Op: zktest.OpCreate, Path: "/a", ACL: []jute.ACL{grant(31, "digest", ":")}},
			Step{Op: zktest.OpCreate, Path: "/a", ACL: []jute.ACL{grant(31, "digest", "a:b::")}}, Step{Op: zktest.OpCreate, Path: "/a0", ACL: []jute.ACL{grant(31, "digest", ":b")}}),
		named("acl by address", Step{Op: zktest.OpCreate, Path: "/1", ACL: []jute.ACL{grant(31, "ip", "1.2.3")}}, Step{Op: zktest.OpCreate, Path: "/2", ACL: []jute.ACL{grant(31, "ip", "1.2.3.4/33")}},
			Step{Op: zktest.OpCreate, Path: "/3", ACL: []jute.ACL{grant(31, "ip", "127.0.0.1")}}, read(zktest.OpGetData, "/3"),
			Step{Op: zktest.OpCreate, Path: "/4", ACL: []jute.ACL{grant(31, "ip", "10.0.0.0/8")}}, read(zktest.OpGetData, "/4"),
			Step{Op: zktest.OpCreate, Path: "/5", ACL: []jute.ACL{grant(31, "ip", "10.0.0.0/0")}}, read(zktest.OpGetData, "/5"),
			Step{Op: zktest.OpCreate, Path: "/6", ACL: []jute.ACL{grant(31, "ip", "126.0.0.0/7")}}, read(zktest.OpGetData, "/6"),
			Step{Op: zktest.OpCreate, Path: "/7", ACL: []jute.ACL{grant(31, "ip", "1.2.3.256")}}, Step{Op: zktest.OpCreate, Path: "/8", ACL: []jute.ACL{grant(31, "ip", "127.0.0.1/x")}},
			Step{Op: zktest.OpCreate, Path: "/9", ACL: []jute.ACL{grant(31, "ip", "::1")}}),
		named("acl doubles go", Step{Op: zktest.OpCreate, Path: "/a", ACL: []jute.ACL{me, me, grant(1, "world", "anyone")}}, read(zktest.OpGetACL, "/a")),
		named("digest hidden from readers", Step{Op: zktest.OpCreate, Path: "/a", ACL: []jute.ACL{me, grant(1, "world", "anyone"), grant(1, "digest", "x:y")}}, read(zktest.OpGetACL, "/a"),
			auth("digest", "me:secret"), read(zktest.OpGetACL, "/a")),
		named("auth expands", auth("digest", "me:secret"), auth("digest", "you:secret"), Step{Op: zktest.OpCreate, Path: "/a", ACL: []jute.ACL{grant(31, "auth", "ignored")}},
			read(zktest.OpGetACL, "/a"), by(1, read(zktest.OpGetACL, "/a")), by(1, read(zktest.OpGetData, "/a")), by(1, auth("digest", "you:secret")), by(1, read(zktest.OpGetData, "/a")),
			by(1, Step{Op: Reconnect}), by(1, read(zktest.OpGetData, "/a"))),
		named("every permission", auth("digest", "me:secret"), Step{Op: zktest.OpCreate, Path: "/a", ACL: []jute.ACL{me}}, by(1, create("/a/b", 0)), by(1, set("/a", "x", -1)),
			by(1, read(zktest.OpGetData, "/a")), by(1, watched(zktest.OpGetChildren, "/a")), by(1, read(zktest.OpGetACL, "/a")), by(1, setACL("/a", -1, me)),
			by(1, read(zktest.OpExists, "/a")), by(1, read(zktest.OpGetAllChildrenNumber, "/a")), by(1, remove("/a/none", -1)), by(1, create("/a/none/x", 0)),
			by(1, remove("/a", -1))),
		named("set acl", create("/a", 0), setACL("/a", 0, grant(31, "world", "anyone")), setACL("/a", 0, grant(31, "world", "anyone")), setACL("/a", 1), setACL("/none", -1, grant(1, "world", "anyone")),
			setACL("/a/", -1, grant(1, "world", "anyone")), setACL("/a", -1, grant(1, "world", "anyone")), setACL("/a", -1, grant(31, "world", "anyone")), read(zktest.OpGetACL, "/a")),
		named("events need permission", addWatch("", 1), by(1, auth("digest", "me:secret")), by(1, addWatch("", 1)), by(1, Step{Op: zktest.OpCreate, Path: "/a", ACL: []jute.ACL{me}}),
			by(2, watched(zktest.OpExists, "/a")), by(1, set("/a", "x", 0)), by(2, watched(zktest.OpExists, "/a")), by(1, create("/a/b", 0)), by(1, remove("/a/b", -1)),
			by(1, remove("/a", -1)), by(2, create("/a", 0))),
		named("auth refused", auth("sasl", "x"), read(zktest.OpExists, "")),
		named("auth unknown", auth("nobody", "x"), read(zktest.OpExists, "")),
		named("auth by address", auth("ip", ""), read(zktest.OpWhoAmI, ""), auth("digest", "me:secret"), auth("digest", "me:secret"), read(zktest.OpWhoAmI, ""), auth("digest", "nopassword"),
			auth("digest", ""), read(zktest.OpWhoAmI, "")),
		named("auth of world", auth("world", "anyone"), read(zktest.OpWhoAmI, "")),
	}
}
