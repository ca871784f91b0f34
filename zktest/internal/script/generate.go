package script

import (
	"fmt"
	"math/rand/v2"

	"github.com/zkrecipes/zkrecipes/internal/jute"
	"github.com/zkrecipes/zkrecipes/zktest"
)

// generator makes random scripts. It sends only what clients send: a few malformed
// requests are known to crash a real 3.8.0.
type generator struct {
	*rand.Rand
	made []string // paths that may exist
}

// Generate returns a random script of n steps, which depends on seed only. It has few
// paths, often the right versions, and three sessions, so that requests affect each
// other.
func Generate(seed uint64, n int) Script {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x736372697074)), made: []string{""}}
	s := Script{Name: fmt.Sprintf("seed%d", seed)}
	for _, path := range []string{"/a", "/b", "/a/x"} {
		s.Steps = append(s.Steps, Step{Op: zktest.OpCreate, Path: path})
		g.made = append(g.made, path)
	}
	for len(s.Steps) < n {
		s.Steps = append(s.Steps, g.step())
	}
	return s
}

func pick[T any](g *generator, from ...T) T { return from[g.IntN(len(from))] }

// path returns a path, mostly one that was created before.
func (g *generator) path() string {
	switch g.IntN(12) {
	case 0:
		return pick(g, "/none", "/a/none", "/b/c/d/e", "!/zookeeper/config", "/a/", "//a", "/a/./b")
	case 1, 2:
		return pick(g, "/a", "/b", "/a/x")
	}
	return g.made[g.IntN(len(g.made))]
}

// fresh returns a path to create, mostly below one that exists.
func (g *generator) fresh() string {
	if g.IntN(15) == 0 {
		return pick(g, "/a/../b", "/x/", "!x", "/no/parent", "/a\x01", "/é", "/\U0001F600")
	}
	parent := g.made[g.IntN(len(g.made))]
	p := parent + "/" + pick(g, "a", "b", "x", "n-")
	if len(p) < 14 {
		g.made = append(g.made, p)
	}
	return p
}

func (g *generator) version() int32 { return pick[int32](g, -1, -1, -1, 0, 0, 1, 2) }

func (g *generator) data() []byte {
	return pick(g, nil, []byte{}, []byte("one"), []byte("second"))
}

// digestMeSecret is what the credentials me:secret prove.
const digestMeSecret = "me:ebLEcrWbUPeIM0GSk+yxQ5tMLaQ="

func (g *generator) acl() []jute.ACL {
	if g.IntN(6) > 0 {
		return nil
	}
	perms := pick[int32](g, 31, 31, 1, 2, 4, 8, 15, 17, 0)
	id := pick(g, jute.ID{Scheme: "world", ID: "anyone"}, jute.ID{Scheme: "auth"}, jute.ID{Scheme: "digest", ID: digestMeSecret},
		jute.ID{Scheme: "ip", ID: "127.0.0.1"}, jute.ID{Scheme: "ip", ID: "127.0.0.0/8"}, jute.ID{Scheme: "ip", ID: "10.9.9.9"},
		jute.ID{Scheme: "world", ID: "me"}, jute.ID{Scheme: "digest", ID: "bad"}, jute.ID{Scheme: "ip", ID: "1.2"})
	acl := []jute.ACL{{Perms: perms, ID: id}}
	switch g.IntN(6) {
	case 0:
		acl = append(acl, acl[0])
	case 1:
		acl = append(acl, openACL...)
	case 2:
		acl = []jute.ACL{}
	}
	return acl
}

// step returns a random step.
func (g *generator) step() Step {
	s := Step{Session: g.IntN(sessions)}
	switch n := g.IntN(100); {
	case n < 30:
		g.create(&s)
	case n < 40:
		s.Op, s.Path, s.Version = zktest.OpDelete, g.path(), g.version()
		if s.Path == "" && g.IntN(10) > 0 {
			s.Path = "/a" // without the root most steps have no effect
		}
	case n < 48:
		s.Op, s.Path, s.Data, s.Version = zktest.OpSetData, g.path(), g.data(), g.version()
	case n < 50:
		s.Op, s.Path, s.ACL, s.Version = zktest.OpSetACL, g.path(), g.acl(), g.version()
	case n < 70:
		s.Op = pick(g, zktest.OpExists, zktest.OpGetData, zktest.OpGetChildren, zktest.OpGetChildren2)
		s.Path, s.Watch = g.path(), g.IntN(2) == 0
	case n < 73:
		s.Op, s.Path = pick(g, zktest.OpGetACL, zktest.OpGetAllChildrenNumber, zktest.OpSync), g.path()
	case n < 82:
		g.multi(&s)
	case n < 96:
		g.watches(&s)
	default:
		g.session(&s)
	}
	return s
}

func (g *generator) create(s *Step) {
	s.Op = pick(g, zktest.OpCreate, zktest.OpCreate, zktest.OpCreate2, zktest.OpCreate2, zktest.OpCreateContainer, zktest.OpCreateTTL)
	s.Path, s.Data, s.ACL = g.fresh(), g.data(), g.acl()
	switch s.Op {
	case zktest.OpCreateContainer:
		s.Flags = 4
	case zktest.OpCreateTTL:
		s.Flags, s.TTL = pick[int32](g, 5, 6), pick[int64](g, 1_000_000, 1_000_000, 1<<40-1)
	default:
		s.Flags = pick[int32](g, 0, 0, 0, 1, 2, 3, 4)
	}
}

func (g *generator) multi(s *Step) {
	s.Op = zktest.OpMulti
	if g.IntN(4) == 0 {
		s.Op = zktest.OpMultiRead
	}
	for range 1 + g.IntN(4) {
		part := Step{Path: g.path()}
		if s.Op == zktest.OpMultiRead {
			part.Op = pick(g, zktest.OpGetData, zktest.OpGetChildren)
			s.Parts = append(s.Parts, part)
			continue
		}
		switch g.IntN(4) {
		case 0:
			g.create(&part)
			if part.Op == zktest.OpCreateTTL {
				part.Op = zktest.OpCreate
				part.Flags = 0
			}
		case 1:
			part.Op, part.Version = zktest.OpDelete, -1
		case 2:
			part.Op, part.Data, part.Version = zktest.OpSetData, g.data(), g.version()
		case 3:
			part.Op, part.Version = zktest.OpCheck, g.version()
		}
		s.Parts = append(s.Parts, part)
	}
}

func (g *generator) watches(s *Step) {
	s.Path = g.path()
	switch g.IntN(6) {
	case 0, 1:
		s.Op, s.Version = zktest.OpAddWatch, pick[int32](g, 0, 1)
	case 2, 3:
		s.Op, s.Version = zktest.OpRemoveWatches, pick[int32](g, 1, 2, 3)
	default:
		s.Op, s.Path = pick(g, zktest.OpSetWatches, zktest.OpSetWatches2), ""
		s.Seen = g.IntN(6)
		for i := range s.Lists {
			for range g.IntN(3) {
				s.Lists[i] = append(s.Lists[i], g.made[g.IntN(len(g.made))])
			}
		}
	}
}

func (g *generator) session(s *Step) {
	switch g.IntN(6) {
	case 0:
		s.Op, s.Path, s.Data = zktest.OpAuth, "digest", []byte("me:secret")
	case 1:
		s.Op = zktest.OpWhoAmI
	case 2, 3:
		s.Op, s.Path = zktest.OpGetEphemerals, pick(g, "", "/a", "/b")
	case 4:
		s.Op = Reconnect
	case 5:
		if g.IntN(4) == 0 {
			s.Op = zktest.OpClose
		} else {
			s.Op = zktest.OpPing
		}
	}
}
