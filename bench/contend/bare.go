package contend

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// bare is the least that the recipes can cost, with go-zookeeper's calls:
//
//   - to acquire and release is to create and delete an ephemeral sequential node;
//   - to pass a path on is a chain: a delete, whose event makes the next node be
//     deleted. Only the chain is timed, and not how its nodes are created;
//   - to take a fresh lock is to create a parent and a node, to take a known one is to
//     create a node.
type bare struct {
	conn  *zk.Conn
	links []link
	nodes []string // taken
	known sync.Map // paths that exist
	crowd
}

// A link is a node of a chain.
type link struct {
	path string
	gone <-chan zk.Event
}

var all = zk.WorldACL(zk.PermAll)

func openBare(config Config) (system, error) {
	conn, err := dial(config.Server, config.Session)
	return &bare{conn: conn, crowd: crowd{server: config.Server}}, err
}

func (s *bare) close() {
	s.conn.Close()
	s.crowd.close()
}

func (s *bare) locker(_, path string, _ int) (locker, error) {
	if err := s.ensure(path); err != nil {
		return nil, err
	}
	return &pair{conn: s.conn, parent: path}, nil
}

// ensure creates a path and its parents, once.
func (s *bare) ensure(path string) error {
	if _, known := s.known.LoadOrStore(path, true); known {
		return nil
	}
	for i := 1; i <= len(path); i++ {
		if i == len(path) || path[i] == '/' {
			if _, err := s.conn.Create(path[:i], nil, 0, all); err != nil && !errors.Is(err, zk.ErrNodeExists) {
				return fmt.Errorf("create %s: %w", path[:i], err)
			}
		}
	}
	return nil
}

// A pair is a create and a delete.
type pair struct {
	conn         *zk.Conn
	parent, node string
}

func (p *pair) acquire() (err error) {
	p.node, err = p.conn.Create(p.parent+"/x-", nil, zk.FlagEphemeralSequential, all)
	return err
}

func (p *pair) release() error { return p.conn.Delete(p.node, -1) }

// do carries out what is not a pair.
func (s *bare) do(verb string, v Values) (result Values, done bool, err error) {
	switch {
	case verb == "cycles" && v["own"] != "true" && v["kind"] == "mutex":
		result, err = s.chains(v["path"], 100, time.Duration(v.Int("for"))*time.Millisecond)
	case verb == "take":
		result, err = s.take(v)
	case verb == "drop":
		nodes, start := s.nodes, time.Now()
		s.nodes = nil
		err = inTurn(len(nodes), 64, func(i int) error { return s.conn.Delete(nodes[i], -1) })
		result = measured(len(nodes), len(nodes), time.Since(start))
	case verb == "hold":
		result = Values{}
	case verb == "queue":
		start := time.Now()
		err = s.prepare(v["path"], v.Int("n"))
		result = measured(v.Int("n"), v.Int("n"), time.Since(start))
	case verb == "drain":
		result, err = s.unlink()
	case verb == "resign":
		if err = s.prepare(v["path"], v.Int("n")); err == nil {
			result, err = s.unlink()
		}
	case verb == "campaign", verb == "elected":
		err = errors.New("there is no bare election")
	default:
		return nil, false, nil
	}
	return result, true, err
}

// chains makes and drains chains for some time.
func (s *bare) chains(path string, n int, limit time.Duration) (Values, error) {
	count, took := 0, time.Duration(0)
	for start := time.Now(); time.Since(start) < limit || count == 0; {
		if err := s.prepare(path, n); err != nil {
			return nil, err
		}
		one, err := s.unlink()
		if err != nil {
			return nil, err
		}
		count += n
		took += time.Duration(one.Int("ns"))
	}
	return measured(count, count, took), nil
}

// prepare makes a chain.
func (s *bare) prepare(path string, n int) error {
	if err := s.ensure(path); err != nil {
		return err
	}
	links := make([]link, n)
	s.links = links
	return inTurn(n, 64, func(i int) error {
		node, err := s.conn.Create(path+"/x-", nil, zk.FlagEphemeralSequential, all)
		if err != nil {
			return err
		}
		_, _, gone, err := s.conn.GetW(node)
		links[i] = link{node, gone}
		return err
	})
}

// unlink deletes a chain, each node when the event of the one before has come.
func (s *bare) unlink() (Values, error) {
	links, start := s.links, time.Now()
	for _, l := range links {
		if err := s.conn.Delete(l.path, -1); err != nil {
			return nil, err
		}
		<-l.gone
	}
	return measured(len(links), len(links), time.Since(start)), nil
}

func (s *bare) take(v Values) (Values, error) {
	n, path := v.Int("n"), v["path"]
	if err := s.ensure(path); err != nil {
		return nil, err
	}
	s.nodes = make([]string, n)
	start := time.Now()
	err := inTurn(n, v.Int("workers"), func(i int) (err error) {
		parent := fmt.Sprintf("%s/%d", path, i)
		if v["fresh"] == "true" {
			if _, err := s.conn.Create(parent, nil, 0, all); err != nil {
				return err
			}
		}
		s.nodes[i], err = s.conn.Create(parent+"/x-", nil, zk.FlagEphemeralSequential, all)
		return err
	})
	return measured(n, n, time.Since(start)), err
}
