package interop

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/multilock"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/retry"
)

// forLong and javaForLong give clients the longest session.
func forLong(cfg *framework.Config) { cfg.SessionTimeout = longestSession }

var javaForLong = fmt.Sprintf("session=%d", longestSession.Milliseconds())

// Four Go and four Java contenders, each with its own session, contend for a mutex.
// Only on Linux can Go and Java read one clock.
func TestGoAndJavaContend(t *testing.T) {
	t.Parallel()
	seconds := 20
	if testing.Short() {
		seconds = 3
	}
	for _, b := range backends {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			addr := b.start(t)
			var mutexes []*mutex.Mutex
			for range 4 {
				mutexes = append(mutexes, newMutex(t, connect(t, addr, forLong), sharedPath))
			}
			p := startCurator(t, "mutex", addr, sharedPath, "threads=4", fmt.Sprintf("seconds=%d", seconds), javaForLong)
			require.Equal(t, "ready", p.line(t))
			var (
				lines []string
				err   error
				java  sync.WaitGroup
			)
			java.Go(func() { lines, err = p.rest() }) // read at once: a full pipe would block the program
			grants := contend(t, mutexes, time.Duration(seconds)*time.Second)
			java.Wait()
			require.NoError(t, err)
			grants = append(grants, parseGrants(t, lines)...)

			requireExclusive(t, grants)
			requireTurns(t, grants, 8)
			requireNothingLeft(t, addr, sharedPath)
		})
	}
}

// With the same order on both sides no wait limit is needed.
func TestMultiLocksOfGoAndJavaInOneOrder(t *testing.T) {
	const rounds = 200
	onBoth(t, func(t *testing.T, addr string) {
		p := startCurator(t, "mutex", addr, sharedPath, "locks=2", "threads=2", fmt.Sprintf("grants=%d", rounds), javaForLong)
		require.Equal(t, "ready", p.line(t))
		var (
			lines   []string
			err     error
			group   sync.WaitGroup
			granted [2][]grant
		)
		group.Go(func() { lines, err = p.rest() }) // read at once: a full pipe would block the program
		for i := range granted {
			all, _ := newMultiLock(t, connect(t, addr, forLong), multilock.WithWaitLimit(retry.None()))
			group.Go(func() {
				for range rounds {
					g, err := hold(all, fmt.Sprintf("go-%d", i))
					if !assert.NoError(t, err) {
						return
					}
					granted[i] = append(granted[i], g)
				}
			})
		}
		group.Wait()
		require.NoError(t, err)
		grants := append(parseGrants(t, lines), append(granted[0], granted[1]...)...)
		require.Len(t, grants, 4*rounds)
		requireExclusive(t, grants)
		requireTurns(t, grants, 4)
		requireNothingLeftOfAll(t, addr)
	})
}

// contend lets Go contenders acquire the mutex for that long and returns their grants.
func contend(t *testing.T, mutexes []*mutex.Mutex, span time.Duration) []grant {
	t.Helper()
	var (
		mu    sync.Mutex
		all   []grant
		group sync.WaitGroup
	)
	end := time.Now().Add(span)
	for i, m := range mutexes {
		group.Go(func() {
			var own []grant
			for time.Now().Before(end) {
				g, err := hold(m, fmt.Sprintf("go-%d", i))
				if !assert.NoError(t, err) {
					break
				}
				own = append(own, g)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, own...)
		})
	}
	group.Wait()
	return all
}

// hold takes a lock once.
func hold(m lease.Acquirer, who string) (grant, error) {
	held, err := m.Acquire(context.Background(), limit)
	if err != nil {
		return grant{}, err
	}
	from, err := monotonic()
	pause := retry.Sleep(held.Context(), 200*time.Microsecond) // long enough for another holder to be seen
	until, err2 := monotonic()
	return grant{Who: who, Node: path.Base(held.Path()), From: from, Until: until},
		errors.Join(err, pause, err2, held.Release())
}

// requireTurns checks that the lock went often from Go to Java and back, and that each
// of the contenders was granted it.
func requireTurns(t *testing.T, grants []grant, contenders int) {
	t.Helper()
	counts := map[string]int{}
	toJava, toGo := 0, 0
	for i, g := range grants {
		counts[g.Who]++
		if i == 0 {
			continue
		}
		switch java := strings.HasPrefix(g.Who, "java"); {
		case java == strings.HasPrefix(grants[i-1].Who, "java"):
		case java:
			toJava++
		default:
			toGo++
		}
	}
	t.Logf("%d grants, %d from Go to Java, %d from Java to Go: %v", len(grants), toJava, toGo, counts)
	require.Len(t, counts, contenders)
	for who, n := range counts {
		require.Greater(t, n, 10, who)
	}
	require.Greater(t, toJava, 10)
	require.Greater(t, toGo, 10)
}

// monotonic reads the clock that Java's System.nanoTime reads.
func monotonic() (int64, error) {
	const clockMonotonic = 1
	var now syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&now)), 0)
	if errno != 0 {
		return 0, fmt.Errorf("read the monotonic clock: %w", errno)
	}
	return now.Nano(), nil
}
