package script

import "github.com/zkrecipes/zkrecipes/zktest"

func creates() []Script {
	out := []Script{
		named("create every mode", create("/p", 0), create("/e", 1), create("/s-", 2), create("/es-", 3), create("/c", 4),
			read(zktest.OpGetChildren2, ""), read(zktest.OpExists, "/e"), read(zktest.OpExists, "/c")),
		named("create2 every mode", create2("/p", 0), create2("/e", 1), create2("/s-", 2), create2("/es-", 3), create2("/c", 4),
			read(zktest.OpGetChildren2, "")),
		named("create container", containerNode("/c"), containerNode("/c"), create("/c/a", 0), read(zktest.OpExists, "/c"),
			Step{Op: zktest.OpCreateContainer, Path: "/plainflag"}, Step{Op: zktest.OpCreateContainer, Path: "/seq-", Flags: 2}),
		named("create ttl", ttlNode("/t", 5, 60_000), ttlNode("/t-", 6, 60_000), ttlNode("/t-", 6, 60_000), ttlNode("/none/t", 5, 1000),
			read(zktest.OpExists, "/t"), create("/t/a", 0), remove("/t/a", -1), remove("/t", 0)),
		named("ttl out of bounds", ttlNode("/t", 5, 0), ttlNode("/t", 5, -1), ttlNode("/t", 5, 1<<40), ttlNode("/t", 5, 1<<40-1),
			create("/u", 5), create2("/u", 6)),
		named("flags unknown", create("/a", 7), create("/a", -1), create2("/a", 100), Step{Op: zktest.OpCreateContainer, Path: "/a", Flags: 9}),
		named("create twice", create("/a", 0), create("/a", 0), create("/a", 1), create2("/a", 0), containerNode("/a"), read(zktest.OpExists, "")),
		named("create without parent", create("/a/b", 0), create2("/a/b", 3), containerNode("/a/b")),
		named("create below ephemeral", create("/e", 1), create("/e/a", 0), create("/e/a-", 3), containerNode("/e/c"), remove("/e", -1)),
		named("data null and empty", Step{Op: zktest.OpCreate, Path: "/n"}, Step{Op: zktest.OpCreate, Path: "/e", Data: []byte{}},
			read(zktest.OpGetData, "/n"), read(zktest.OpGetData, "/e")),
		named("create on what every server has", create("!/", 0), create("!/zookeeper", 0), create("!/zookeeper/config", 0), create("!/zookeeper/quota", 0)),
	}
	for _, path := range []string{
		"!", "!a", "!a/b", "/", "//", "/a/", "/a//b", "/.", "/..", "/a/./b", "/a/../b", "/...", "/.a", "/a.", "/\x00", "/a\x00", "/\x01", "/\x1f",
		"/\x7f", "/\u0080", "/\u009f", "/\u00a0", "/é", "/日本", "/\ud7ff", "/\ue000", "/\uf8ff", "/\uf900", "/\uffef", "/\ufff0", "/\ufffd",
		"/\U0001F600", "/a b", "/%2f", "/\\",
	} {
		out = append(out, named("path of create "+quote(path), create("/a", 0), create(path, 0), create(path, 2), create2(path, 1),
			set(path, "x", -1), remove(path, -1)))
	}
	return out
}

func deletes() []Script {
	return []Script{
		named("delete", create("/a", 0), remove("/a", 0), remove("/a", -1), read(zktest.OpExists, "")),
		named("delete version", create("/a", 0), set("/a", "x", 0), remove("/a", 0), remove("/a", 2), remove("/a", -2), remove("/a", 1)),
		named("delete not empty", create("/a", 0), create("/a/b", 0), remove("/a", 5), remove("/a", -1), remove("/a/b", -1), remove("/a", -1)),
		named("delete what may not be", remove("!/", -1), remove("!", -1), remove("!/zookeeper", -1), remove("!/zookeeper/config", -1),
			remove("!/zookeeper/quota/none", -1), remove("!a", -1), remove("/a/", -1), remove("/none/a", -1)),
		named("delete what every server has", remove("!/zookeeper/quota", -1), remove("!/zookeeper/quota", 0), remove("!/zookeeper/quota", 7), remove("!/zookeeper/quota/", -1),
			remove("!/zookeeper/", -1), remove("!/zookeeper/config", 0), remove("!/zookeeper/config", 7), remove("!/zookeeper/config/", -1), remove("!/zookeeper/config/none", -1),
			remove("!/zookeeper/none", -1), remove("!//", -1), multi(remove("!/zookeeper/quota", -1)), multi(create("/a", 0), remove("!/zookeeper/config", -1)), multi(remove("!/zookeeper", -1)),
			multi(remove("!/", -1)), read(zktest.OpExists, ""), read(zktest.OpGetChildren, "!/zookeeper")),
		named("cversion counts both ways", create("/a", 0), create("/b", 0), remove("/a", -1), read(zktest.OpExists, ""),
			remove("/b", -1), read(zktest.OpExists, ""), create("/a", 0), read(zktest.OpExists, "")),
	}
}

func datas() []Script {
	big := make([]byte, 900_000)
	return []Script{
		named("set data", create("/a", 0), set("/a", "one", 0), set("/a", "two", 0), set("/a", "two", 1), set("/a", "", -1), read(zktest.OpGetData, "/a"),
			Step{Op: zktest.OpSetData, Path: "/a", Version: -1}, read(zktest.OpGetData, "/a")),
		named("set data nowhere", set("/a", "x", -1), set("", "x", -1), set("/a/", "x", -1), set("!", "x", -1), set("!/zookeeper/config", "x", -1)),
		named("big data", Step{Op: zktest.OpCreate, Path: "/a", Data: big}, read(zktest.OpGetData, "/a"),
			Step{Op: zktest.OpSetData, Path: "/a", Data: make([]byte, 1_100_000)}, read(zktest.OpGetData, "/a"), by(1, read(zktest.OpExists, "/a"))),
		named("reads move no version", create("/a", 0), read(zktest.OpGetData, "/a"), read(zktest.OpExists, "/a"), read(zktest.OpSync, "/a"),
			read(zktest.OpPing, ""), read(zktest.OpGetData, "/a")),
	}
}

func readings() []Script {
	var out []Script
	for _, op := range []zktest.Op{
		zktest.OpExists, zktest.OpGetData, zktest.OpGetChildren, zktest.OpGetChildren2, zktest.OpGetACL,
		zktest.OpGetAllChildrenNumber, zktest.OpSync, zktest.OpGetEphemerals,
	} {
		out = append(out, named("paths of "+op.String(), create("/a", 0), create("/a/b", 1), create("/a/b-", 3), read(op, "/a"), read(op, "/a/b"),
			read(op, "/none"), read(op, "/a/"), read(op, "!a"), read(op, "/a\x00"), read(op, "/a/./b"), read(op, "!/zookeeper/config")))
	}
	return append(out,
		named("ephemerals of a session", create("/a", 1), create("/b", 0), create("/b/c", 1), by(1, create("/d", 1)), read(zktest.OpGetEphemerals, ""),
			read(zktest.OpGetEphemerals, "/b"), read(zktest.OpGetEphemerals, "/b/"), by(1, read(zktest.OpGetEphemerals, "")), by(2, read(zktest.OpGetEphemerals, "")),
			read(zktest.OpGetEphemerals, "! "), read(zktest.OpGetEphemerals, "!/"), read(zktest.OpGetEphemerals, "!"), remove("/a", -1),
			read(zktest.OpGetEphemerals, "")),
		named("count of all children", create("/a", 0), create("/a/b", 0), create("/a/b/c", 0), create("/ab", 0),
			read(zktest.OpGetAllChildrenNumber, ""), read(zktest.OpGetAllChildrenNumber, "/a"), read(zktest.OpGetAllChildrenNumber, "/a/b/c")),
	)
}

func sequences() []Script {
	return []Script{
		named("sequence counts all creations", create("/s-", 2), create("/plain", 0), create("/s-", 3), remove("/plain", -1), create("/s-", 2),
			ttlNode("/s-", 6, 1000), read(zktest.OpGetChildren2, "")),
		named("sequence after deletion", create("/s-", 2), remove("/s-0000000000", -1), create("/s-", 2), create("/other-", 2)),
		named("sequence of an empty name", create("/", 2), create("/a/", 2), create("/a", 0), create("/a/", 2), create("/a/", 3), create2("/a/", 2)),
		named("sequence and failures", create("/none/s-", 2), create("/s-", 2), create("/s-", 7), create("/s-", 2),
			multi(create("/s-", 2), check("/none", -1)), create("/s-", 2)),
		named("sequence meets a plain name", create("/s-0000000001", 0), create("/s-", 2), create("/s-", 2)),
		named("sequence within multi", multi(create("/s-", 2), create("/s-", 3), create("/p", 0), create("/s-", 2)), create("/s-", 2), read(zktest.OpExists, "")),
	}
}
