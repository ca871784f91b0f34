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
		Name:      "mutex",
		Slots:     1,
		HandsOver: true,
		Foreign:   latches,
		Zero:      new(mutex.Mutex),
		New:       func(c *framework.Client, path string) lease.Acquirer { return must(mutex.New(c, path)) },
	})
}

func TestWriters(t *testing.T) {
	conformance.Run(t, conformance.Recipe{Name: "write lock", Slots: 1, HandsOver: true, Zero: new(rwlock.Lock), New: write, Readers: read, Foreign: latches})
}

// Writers that readers and mutexes keep out.
func TestWritersBehindOthers(t *testing.T) {
	for name, block := range map[string]func(c *framework.Client, path string) lease.Acquirer{
		"a reader": read,
		"a mutex": func(c *framework.Client, path string) lease.Acquirer {
			return must(mutex.New(c, path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			conformance.Run(t, conformance.Recipe{Name: "write lock", Slots: 1, HandsOver: true, Zero: new(rwlock.Lock), New: write, Block: block, Shares: shares})
		})
	}
}

func TestReaders(t *testing.T) {
	conformance.Run(t, conformance.Recipe{Name: "read lock", Zero: new(rwlock.Lock), New: read, Block: write, Shares: shares, Foreign: latches})
}

// latches are nodes of leader elections.
var latches = map[string][]string{"": {"latch-0000000000"}}

func write(c *framework.Client, path string) lease.Acquirer { return lock(c, path).Write() }

func read(c *framework.Client, path string) lease.Acquirer { return lock(c, path).Read() }

func lock(c *framework.Client, path string) *rwlock.Lock { return must(rwlock.New(c, path)) }

// must panics with an error.
func must[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}

func shares(l *lease.Lease) bool { return strings.Contains(l.Path(), "__READ__") }
