package interop

import (
	"fmt"
	"io"
	"log"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/integration/proxy"
)

// A recorder records what a go-zookeeper client sees.
type recorder struct {
	t     *testing.T
	lines []string
}

// say adds a line.
func (r *recorder) say(format string, arguments ...any) {
	r.lines = append(r.lines, uuid.ReplaceAllString(fmt.Sprintf(format, arguments...), "(an id)"))
}

var uuid = regexp.MustCompile(`[0-9a-f]{32}`)

// did adds the result of an operation.
func (r *recorder) did(what string, result any, err error) {
	stat, ok := result.(*zk.Stat)
	switch {
	case err != nil:
		r.say("%s: %v", what, err)
	case result == nil:
		r.say("%s: done", what)
	case ok:
		r.say("%s: zxids %d %d %d, versions %d %d %d, length %d, children %d", what,
			stat.Czxid, stat.Mzxid, stat.Pzxid, stat.Version, stat.Cversion, stat.Aversion, stat.DataLength, stat.NumChildren)
	default:
		r.say("%s: %v", what, result)
	}
}

// event adds the event of a watch, for which it waits.
func (r *recorder) event(what string, events <-chan zk.Event) {
	r.t.Helper()
	select {
	case e := <-events:
		r.say("%s: %v %v %s %v", what, e.Type, e.State, e.Path, e.Err)
	case <-time.After(limit):
		require.Fail(r.t, "no event", what)
	}
}

// dial returns a connection with a session.
func (r *recorder) dial(addr string) *zk.Conn {
	r.t.Helper()
	conn, events, err := zk.Connect([]string{addr}, sessionTimeout, zk.WithLogger(log.New(io.Discard, "", 0)))
	require.NoError(r.t, err)
	r.t.Cleanup(func() {
		conn.Close()
		for range events { // until its goroutines have ended
			continue
		}
	})
	for deadline := time.After(limit); ; {
		select {
		case e := <-events:
			if e.State == zk.StateHasSession {
				return conn
			}
		case <-deadline:
			require.Fail(r.t, "no session")
		}
	}
}

func TestTranscriptGoZookeeper(t *testing.T) {
	requireTranscript(t, func(t *testing.T, addr string) []string {
		r := &recorder{t: t}
		p := proxy.New(t, addr)
		ann, bob := r.dial(p.Addr()), r.dial(addr)
		r.nodes(ann)
		r.transactions(ann)
		r.permissions(ann, bob)
		r.watches(ann, bob)
		r.resumes(p, ann, bob)
		r.locks(ann, bob)
		r.leaves(addr, bob)
		return r.lines
	})
}

// nodes creates nodes of all kinds and reads, changes and deletes some.
func (r *recorder) nodes(conn *zk.Conn) {
	all := zk.WorldACL(zk.PermAll)
	create := func(path string, flags int32) {
		name, err := conn.Create(path, []byte("data"), flags, all)
		r.did(fmt.Sprintf("create %s %d", path, flags), name, err)
	}
	create("/app", 0)
	create("/app", 0)
	create("/none/child", 0)
	create("/app/job-", zk.FlagSequence)
	create("/app/live", zk.FlagEphemeral)
	create("/app/live/below", 0)
	create("/app/live-", zk.FlagEphemeral|zk.FlagSequence)
	name, err := conn.CreateContainer("/app/box", nil, zk.FlagContainer, all)
	r.did("create a container", name, err)
	name, err = conn.CreateTTL("/app/brief-", nil, zk.FlagPersistentSequentialWithTTL, all, time.Hour)
	r.did("create with a time to live", name, err)
	name, err = conn.CreateProtectedEphemeralSequential("/app/box/one-", nil, all)
	r.did("create protected", name, err)

	data, stat, err := conn.Get("/app")
	r.did("get", string(data), err)
	r.did("its stat", stat, err)
	stat, err = conn.Set("/app", []byte("other"), 0)
	r.did("set version 0", stat, err)
	_, err = conn.Set("/app", []byte("third"), 0)
	r.did("set version 0", nil, err)
	r.did("delete with children", nil, conn.Delete("/app", -1))
	r.did("delete version 7", nil, conn.Delete("/app/live", 7))
	r.did("delete", nil, conn.Delete("/app/live", 0))
	found, _, err := conn.Exists("/app/live")
	r.did("exists", found, err)
	r.children(conn, "/app")
	path, err := conn.Sync("/app")
	r.did("sync", path, err)
}

func (r *recorder) children(conn *zk.Conn, path string) {
	names, stat, err := conn.Children(path)
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(bare(a), bare(b)) })
	r.did("children", names, err)
	r.did("their parent's stat", stat, err)
}

// bare is a name without its protection.
func bare(name string) string { return uuid.ReplaceAllString(name, "") }

// transactions are all or nothing.
func (r *recorder) transactions(conn *zk.Conn) {
	all := zk.WorldACL(zk.PermAll)
	multi := func(what string, ops ...any) {
		results, err := conn.Multi(ops...)
		for i, result := range results {
			r.say("%s, part %d: %q %v", what, i, result.String, result.Error)
		}
		r.did(what, nil, err)
	}
	multi("good transaction",
		&zk.CheckVersionRequest{Path: "/app", Version: 1},
		&zk.CreateRequest{Path: "/app/step-", Data: []byte("1"), Acl: all, Flags: zk.FlagSequence},
		&zk.SetDataRequest{Path: "/app", Data: []byte("in one"), Version: 1},
		&zk.DeleteRequest{Path: "/app/job-0000000000", Version: -1})
	multi("bad transaction",
		&zk.CreateRequest{Path: "/app/never", Acl: all},
		&zk.CheckVersionRequest{Path: "/app", Version: 1},
		&zk.DeleteRequest{Path: "/app/box", Version: -1})
	r.children(conn, "/app")
}

// permissions keep bob away from ann's nodes.
func (r *recorder) permissions(ann, bob *zk.Conn) {
	r.did("authenticate", nil, ann.AddAuth("digest", []byte("ann:secret")))
	_, err := ann.Create("/hers", []byte("private"), 0, zk.AuthACL(zk.PermAll))
	r.did("create hers", nil, err)
	acl, stat, err := ann.GetACL("/hers")
	r.did("its acl", acl, err)
	r.did("its stat", stat, err)
	_, _, err = bob.Get("/hers")
	r.did("bob gets it", nil, err)
	_, err = bob.Set("/hers", nil, -1)
	r.did("bob sets it", nil, err)
	stat, err = ann.SetACL("/hers", append(acl, zk.WorldACL(zk.PermRead)...), 0)
	r.did("let all read", stat, err)
	data, _, err := bob.Get("/hers")
	r.did("bob gets it", string(data), err)
	_, err = ann.SetACL("/hers", acl, 0)
	r.did("set an old version of the acl", nil, err)
	_, err = ann.SetACL("/hers", []zk.ACL{}, -1)
	r.did("set no acl", nil, err)
}

// watches fire once.
func (r *recorder) watches(ann, bob *zk.Conn) {
	_, _, data, err := bob.GetW("/app")
	r.did("watch the data", nil, err)
	_, _, children, err := bob.ChildrenW("/app")
	r.did("watch the children", nil, err)
	found, _, missing, err := bob.ExistsW("/app/new")
	r.did("watch for a node", found, err)
	_, err = ann.Set("/app", []byte("seen"), -1)
	r.did("set", nil, err)
	_, err = ann.Create("/app/new", nil, 0, zk.WorldACL(zk.PermAll))
	r.did("create", nil, err)
	r.event("data", data)
	r.event("children", children)
	r.event("node", missing)
	_, _, gone, err := bob.ExistsW("/app/new")
	r.did("watch its end", nil, err)
	_, _, below, err := bob.ChildrenW("/app/new")
	r.did("watch for children", nil, err)
	r.did("delete", nil, ann.Delete("/app/new", -1))
	r.event("node", gone)
	r.event("children", below)
}

// resumes cuts ann's connection while a watch fires: her session goes on, and the event
// arrives late.
func (r *recorder) resumes(p *proxy.Proxy, ann, bob *zk.Conn) {
	session := ann.SessionID()
	_, _, data, err := ann.GetW("/app")
	r.did("watch the data", nil, err)
	_, _, missing, err := ann.ExistsW("/app/late")
	r.did("watch for a node", nil, err)
	p.Refuse(true)
	p.Cut()
	_, err = bob.Set("/app", []byte("unseen"), -1)
	r.did("bob sets", nil, err)
	_, err = bob.Create("/app/late", nil, 0, zk.WorldACL(zk.PermAll))
	r.did("bob creates", nil, err)
	p.Refuse(false)
	r.event("data", data)
	r.event("node", missing)
	found, _, err := ann.Exists("/app/live-0000000002")
	r.did("her ephemeral node is there", found, err)
	r.say("same session: %t", ann.SessionID() == session)
}

// locks uses the library's own lock, with two clients.
func (r *recorder) locks(ann, bob *zk.Conn) {
	hers := zk.NewLock(ann, "/locks/shared", zk.WorldACL(zk.PermAll))
	his := zk.NewLock(bob, "/locks/shared", zk.WorldACL(zk.PermAll))
	r.did("unlock what is not locked", nil, hers.Unlock())
	r.did("ann locks", nil, hers.Lock())
	r.did("ann locks again", nil, hers.Lock())
	locked := make(chan error, 1)
	go func() { locked <- his.LockWithData([]byte("bob")) }()
	for deadline := time.Now().Add(limit); ; { // until bob waits
		names, _, changed, err := ann.ChildrenW("/locks/shared")
		require.NoError(r.t, err)
		if len(names) == 2 {
			break
		}
		select {
		case <-changed:
		case <-time.After(time.Until(deadline)):
			require.Fail(r.t, "bob does not wait for the lock")
		}
	}
	r.children(ann, "/locks/shared")
	select {
	case err := <-locked:
		require.Fail(r.t, "two locked at once", "%v", err)
	default:
	}
	r.did("ann unlocks", nil, hers.Unlock())
	select {
	case err := <-locked:
		r.did("bob locks", nil, err)
	case <-time.After(limit):
		require.Fail(r.t, "bob was not granted the lock")
	}
	r.did("bob unlocks", nil, his.Unlock())
}

// leaves shows that ephemeral nodes end with their session.
func (r *recorder) leaves(addr string, bob *zk.Conn) {
	eve := r.dial(addr)
	_, err := eve.Create("/app/eve", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
	r.did("eve creates", nil, err)
	_, stat, gone, err := bob.ExistsW("/app/eve")
	r.did("bob watches it", nil, err)
	r.say("it is hers: %t", stat.EphemeralOwner == eve.SessionID())
	eve.Close()
	r.event("node", gone)
}
