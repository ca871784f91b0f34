package script

import (
	"bytes"

	"github.com/zkrecipes/zkrecipes/zktest"
)

func watches() []Script {
	lists := func(op zktest.Op, seen int, lists ...[]string) Step {
		s := Step{Op: op, Seen: seen}
		copy(s.Lists[:], lists)
		return s
	}
	out := []Script{
		named("watch on nothing", watched(zktest.OpExists, "/a"), watched(zktest.OpGetData, "/a"), watched(zktest.OpGetChildren, "/a"), by(1, create("/a", 0)), by(1, set("/a", "x", -1)),
			by(1, create("/a/b", 0))),
		named("watch once", create("/a", 0), watched(zktest.OpGetData, "/a"), watched(zktest.OpExists, "/a"), by(1, set("/a", "x", -1)), by(1, set("/a", "y", -1))),
		named("watches of one session meet", create("/a", 0), watched(zktest.OpGetData, "/a"), watched(zktest.OpGetChildren, "/a"), watched(zktest.OpGetChildren, ""), by(1, remove("/a", -1))),
		named("child watch and its node", create("/a", 0), watched(zktest.OpGetChildren2, "/a"), by(1, set("/a", "x", -1)), by(1, create("/a/b", 0)), by(1, create("/a/c", 0)), watched(zktest.OpGetChildren, "/a"),
			by(1, set("/a/b", "x", -1)), by(1, remove("/a/b", -1)), watched(zktest.OpGetChildren, "/a"), by(1, remove("/a/c", -1)), watched(zktest.OpGetChildren, "/a"), by(1, remove("/a", -1))),
		named("own changes ring too", create("/a", 0), watched(zktest.OpGetData, "/a"), set("/a", "x", -1), watched(zktest.OpGetChildren, "/a"), create("/a/b", 0), watched(zktest.OpExists, "/a/b"), remove("/a/b", -1)),
		named("failures ring nothing", create("/a", 0), watched(zktest.OpGetData, "/a"), by(1, set("/a", "x", 9)), by(1, remove("/a", 9)), by(1, create("/a", 0)), by(1, multi(set("/a", "x", -1), check("/a", 0)))),
		named("closing rings", by(1, create("/e", 1)), by(1, create("/d", 0)), by(1, create("/d/e", 1)), watched(zktest.OpExists, "/e"), watched(zktest.OpGetChildren, "/d"), by(2, addWatch("/d", 1)),
			by(1, read(zktest.OpClose, "")), read(zktest.OpExists, "/e"), read(zktest.OpExists, "/d")),
		named("closing rings for oneself", create("/e", 1), watched(zktest.OpExists, "/e"), read(zktest.OpClose, "")),
		named("watch and set acl", create("/a", 0), watched(zktest.OpGetData, "/a"), watched(zktest.OpGetChildren, "/a"), by(1, setACL("/a", -1, openACL...)), by(1, set("/a", "x", -1))),
		named("watch and path forms", watched(zktest.OpExists, "/a/"), watched(zktest.OpExists, "!b"), by(1, create("/a", 0))),
		named("watch gone with its connection", create("/a", 0), watched(zktest.OpGetData, "/a"), Step{Op: Reconnect}, by(1, set("/a", "x", -1)), removeWatch("/a", 2)),
		named("session goes on", create("/e", 1), Step{Op: Reconnect}, read(zktest.OpExists, "/e"), create("/f", 1), read(zktest.OpGetEphemerals, "")),
	}
	for _, op := range []zktest.Op{zktest.OpSetWatches, zktest.OpSetWatches2} {
		out = append(out,
			named(op.String()+" up to date", create("/a", 0), lists(op, 0, []string{"/a"}, []string{"/n"}, []string{"/a"}), by(1, set("/a", "x", -1)), by(1, create("/a/b", 0)), by(1, create("/n", 0))),
			named(op.String()+" missed all", create("/a", 0), by(1, set("/a", "x", -1)), by(1, create("/a/b", 0)), by(1, create("/n", 0)), by(1, create("/m", 0)),
				lists(op, 5, []string{"/a", "/gone"}, []string{"/n"}, []string{"/a", "/gone"}), by(1, set("/a", "y", -1)), by(1, remove("/n", -1))),
			named(op.String()+" exists and missing", create("/a", 0), lists(op, 0, []string{"/x", "/a"}, []string{"/a", "/x"}, []string{"/x", "/a"}), by(1, create("/x", 0)), by(1, remove("/a", -1))),
			named(op.String()+" replaces after reconnect", create("/a", 0), watched(zktest.OpGetData, "/a"), Step{Op: Reconnect}, lists(op, 0, []string{"/a"}), by(1, set("/a", "x", -1))),
		)
	}
	return append(out,
		named("setWatches2 persistent", create("/a", 0), lists(zktest.OpSetWatches2, 3, nil, nil, nil, []string{"/a"}, []string{"/b"}), by(1, create("/a/c", 0)), by(1, create("/b", 0)),
			by(1, create("/b/c", 0)), by(1, set("/a", "x", -1)), by(1, set("/b/c", "x", -1)), by(1, remove("/b/c", -1))))
}

func persistentWatches() []Script {
	changes := []Step{
		by(1, create("/a", 0)), by(1, set("/a", "x", -1)), by(1, create("/a/b", 0)), by(1, set("/a/b", "x", -1)), by(1, create("/a/b/c", 3)), by(1, remove("/a/b/c0000000000", -1)),
		by(1, remove("/a/b", -1)), by(1, remove("/a", -1)), by(1, create("/a", 0)),
	}
	with := func(name string, first ...Step) Script { return named(name, append(first, changes...)...) }
	return []Script{
		with("persistent", addWatch("/a", 0)),
		with("persistent on the root", addWatch("", 0)),
		with("recursive", addWatch("/a", 1)),
		with("recursive on the root", addWatch("", 1)),
		with("recursive over persistent", addWatch("/a", 0), addWatch("/a", 1)),
		with("persistent over recursive", addWatch("/a", 1), addWatch("/a", 0)),
		with("recursive and nested", addWatch("", 1), addWatch("/a", 1), addWatch("/a/b", 0)),
		with("one-shot over persistent", addWatch("/a", 0), watched(zktest.OpExists, "/a")),
		with("one-shot over recursive", addWatch("/a", 1), watched(zktest.OpExists, "/a")),
		with("one-shot child over recursive", create("/a", 0), addWatch("/a", 1), watched(zktest.OpGetChildren, "/a")),
		with("several sessions", addWatch("/a", 0), by(1, addWatch("/a", 1)), by(2, watched(zktest.OpExists, "/a"))),
		with("removed any", addWatch("/a", 0), removeWatch("/a", 3), removeWatch("/a", 3)),
		with("removed data of persistent", addWatch("/a", 0), removeWatch("/a", 2), removeWatch("/a", 2)),
		with("removed children of persistent", addWatch("/a", 0), removeWatch("/a", 1), removeWatch("/a", 1)),
		with("removed data of recursive", addWatch("/a", 1), removeWatch("/a", 2)),
		with("removed children of recursive", addWatch("/a", 1), removeWatch("/a", 1)),
		with("removed another's", addWatch("/a", 1), by(1, removeWatch("/a", 3)), by(2, removeWatch("/a", 3))),
		named("removed one-shots", create("/a", 0), watched(zktest.OpGetData, "/a"), watched(zktest.OpGetChildren, "/a"), removeWatch("/a", 1), removeWatch("/a", 1), by(1, set("/a", "x", -1)),
			by(1, create("/a/b", 0)), removeWatch("/a", 2), removeWatch("/none", 3)),
		named("modes and kinds unknown", create("/a", 0), addWatch("/a", 2), addWatch("/a", -1), removeWatch("/a", 0), removeWatch("/a", 4),
			Step{Op: zktest.OpCheckWatches, Path: "/a", Version: 9}, read(zktest.OpExists, "/a")),
		named("checked", create("/a", 0), Step{Op: zktest.OpCheckWatches, Path: "/a", Version: 3}, watched(zktest.OpGetData, "/a"), Step{Op: zktest.OpCheckWatches, Path: "/a", Version: 2},
			Step{Op: zktest.OpCheckWatches, Path: "/a", Version: 1}, Step{Op: zktest.OpCheckWatches, Path: "/a", Version: 3}, read(zktest.OpExists, "/a")),
		named("persistent gone with its connection", addWatch("/a", 1), Step{Op: Reconnect}, by(1, create("/a", 0)), removeWatch("/a", 3)),
	}
}

func sessionScripts() []Script {
	return []Script{
		named("close", create("/e", 1), by(1, create("/e1", 1)), read(zktest.OpClose, ""), by(1, read(zktest.OpGetChildren2, ""))),
		named("ping tells the latest transaction", read(zktest.OpPing, ""), by(1, create("/a", 0)), read(zktest.OpPing, "")),
		named("failed writes take numbers", set("/none", "x", -1), create("!a", 0), multi(check("/none", 0)), read(zktest.OpExists, "")),
		named("owner in stat", create("/e", 1), by(1, read(zktest.OpExists, "/e")), by(1, set("/e", "x", 0)), by(1, remove("/e", 1))),
		named("identities", read(zktest.OpWhoAmI, ""), auth("digest", "me:secret"), read(zktest.OpWhoAmI, ""), by(1, read(zktest.OpWhoAmI, ""))),
	}
}

// reconfigs ask a standalone server with default settings to change its ensemble, and
// for its configuration.
func reconfigs() []Script {
	ask := Step{Op: zktest.OpReconfig, Path: "server.2=127.0.0.1:2888:3888;2181"}
	return []Script{
		named("reconfig", ask, read(zktest.OpPing, ""), create("/a", 0), ask, auth("digest", "me:secret"), ask, by(1, read(zktest.OpExists, "/a"))),
		named("reconfig of nothing", Step{Op: zktest.OpReconfig}, raw(zktest.OpReconfig, bytes.Repeat([]byte{0xff}, 3*4+8)...), read(zktest.OpExists, "")),
		named("reconfig with more behind it", raw(zktest.OpReconfig, make([]byte, 3*4+8+1)...), read(zktest.OpExists, "")),
		named("reconfig within multi", multi(create("/a", 0), ask), multi(ask), read(zktest.OpExists, "")),
		named("configuration", read(zktest.OpGetData, "!/zookeeper/config"), watched(zktest.OpGetData, "!/zookeeper/config"), by(1, read(zktest.OpSync, "!/zookeeper/config")), ask),
	}
}

func malformed() []Script {
	path := []byte{0, 0, 0, 2, '/', 'q'}
	alive := by(1, read(zktest.OpExists, ""))
	out := []Script{
		named("operation unknown", raw(99), alive),
		named("operation zero", raw(0), alive),
		named("operation negative", raw(-5), alive),
	}
	for _, op := range []zktest.Op{
		zktest.OpCreate, zktest.OpCreate2, zktest.OpCreateContainer, zktest.OpDelete, zktest.OpExists, zktest.OpGetData, zktest.OpSetData, zktest.OpGetACL,
		zktest.OpSetACL, zktest.OpGetChildren, zktest.OpGetChildren2, zktest.OpSync, zktest.OpAddWatch, zktest.OpRemoveWatches,
		zktest.OpGetAllChildrenNumber, zktest.OpGetEphemerals, zktest.OpSetWatches, zktest.OpSetWatches2, zktest.OpMulti, zktest.OpMultiRead, zktest.OpReconfig,
	} {
		out = append(out,
			named("empty "+op.String(), Step{Op: op, Raw: []byte{}}, read(zktest.OpExists, ""), alive),
			named("cut short "+op.String(), Step{Op: op, Raw: path[:5]}, read(zktest.OpExists, ""), alive),
			named("lying length "+op.String(), raw(op, 0x7f, 0xff, 0xff, 0xff, '/'), read(zktest.OpExists, ""), alive),
			named("negative length "+op.String(), raw(op, 0xff, 0xff, 0xff, 0xf0, '/'), read(zktest.OpExists, ""), alive))
	}
	return out
}
