package conformance_test

import (
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMutex(t *testing.T) {
	conformance.Run(t, conformance.Recipe{
		Name:    "mutex",
		Slots:   1,
		Foreign: latches,
		New: func(c *framework.Client, path string) lease.Acquirer {
			m, err := mutex.New(c, path)
			if err != nil {
				t.Fatal(err)
			}
			return m
		},
	})
}

func TestWriters(t *testing.T) {
	conformance.Run(t, conformance.Recipe{Name: "write lock", Slots: 1, New: write, Readers: read, Foreign: latches})
}

// Writers that readers and mutexes keep out.
func TestWritersBehindOthers(t *testing.T) {
	for name, block := range map[string]func(c *framework.Client, path string) lease.Acquirer{
		"a reader": read,
		"a mutex": func(c *framework.Client, path string) lease.Acquirer {
			m, err := mutex.New(c, path)
			if err != nil {
				panic(err)
			}
			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, conformance.Recipe{Name: "write lock", Slots: 1, New: write, Block: block, Shares: shares})
		})
	}
}

func TestReaders(t *testing.T) {
	conformance.Run(t, conformance.Recipe{Name: "read lock", New: read, Block: write, Shares: shares, Foreign: latches})
}

// latches are nodes of leader elections.
var latches = map[string][]string{"": {"latch-0000000000"}}

func write(c *framework.Client, path string) lease.Acquirer { return lock(c, path).Write() }

func read(c *framework.Client, path string) lease.Acquirer { return lock(c, path).Read() }

func lock(c *framework.Client, path string) *rwlock.Lock {
	l, err := rwlock.New(c, path)
	if err != nil {
		panic(err)
	}
	return l
}

func shares(l *lease.Lease) bool { return strings.Contains(l.Path(), "__READ__") }
