package script

import (
	"slices"

	"github.com/zkrecipes/zkrecipes/internal/jute"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// Table returns the scripts written by hand, one subject each, and some random ones.
func Table() []Script {
	all := slices.Concat(creates(), deletes(), datas(), readings(), sequences(), multis(), acls(), watches(), persistentWatches(),
		sessionScripts(), reconfigs(), malformed())
	for seed := range uint64(40) {
		all = append(all, Generate(seed, 40))
	}
	return all
}

// Short forms for the table.

func create(path string, flags int32) Step {
	return Step{Op: zktest.OpCreate, Path: path, Flags: flags}
}

func create2(path string, flags int32) Step {
	return Step{Op: zktest.OpCreate2, Path: path, Flags: flags}
}

func containerNode(path string) Step {
	return Step{Op: zktest.OpCreateContainer, Path: path, Flags: 4}
}

func ttlNode(path string, flags int32, ttl int64) Step {
	return Step{Op: zktest.OpCreateTTL, Path: path, Flags: flags, TTL: ttl}
}

func remove(path string, version int32) Step {
	return Step{Op: zktest.OpDelete, Path: path, Version: version}
}

func set(path, data string, version int32) Step {
	return Step{Op: zktest.OpSetData, Path: path, Data: []byte(data), Version: version}
}

func read(op zktest.Op, path string) Step { return Step{Op: op, Path: path} }

func watched(op zktest.Op, path string) Step { return Step{Op: op, Path: path, Watch: true} }

func check(path string, version int32) Step {
	return Step{Op: zktest.OpCheck, Path: path, Version: version}
}

func multi(parts ...Step) Step { return Step{Op: zktest.OpMulti, Parts: parts} }

func addWatch(path string, mode int32) Step {
	return Step{Op: zktest.OpAddWatch, Path: path, Version: mode}
}

func removeWatch(path string, kind int32) Step {
	return Step{Op: zktest.OpRemoveWatches, Path: path, Version: kind}
}

func auth(scheme, credentials string) Step {
	return Step{Op: zktest.OpAuth, Path: scheme, Data: []byte(credentials)}
}

func setACL(path string, version int32, acl ...jute.ACL) Step {
	return Step{Op: zktest.OpSetACL, Path: path, Version: version, ACL: append([]jute.ACL{}, acl...)}
}

func grant(perms int32, scheme, id string) jute.ACL {
	return jute.ACL{Perms: perms, ID: jute.ID{Scheme: scheme, ID: id}}
}

// by makes another session run a step.
func by(session int, s Step) Step {
	s.Session = session
	return s
}

func raw(op zktest.Op, body ...byte) Step { return Step{Op: op, Raw: body} }

// named makes a script.
func named(name string, steps ...Step) Script { return Script{Name: name, Steps: steps} }
