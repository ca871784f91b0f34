package rwlock_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/proof/conformance"
	"github.com/zkrecipes/zkrecipes/recipes/lease"
	"github.com/zkrecipes/zkrecipes/recipes/mutex"
	"github.com/zkrecipes/zkrecipes/recipes/rwlock"
)

func TestWhichContendersAreAdmitted(t *testing.T) {
	for sides, admitted := range map[string]string{
		"R": "H", "W": "H", "RRR": "HHH", "RW": "Hw", "WR": "Hw", "WRR": "Hww", "RRWRR": "HHwww", "RWRWR": "Hwwww",
	} {
		t.Run(sides, func(t *testing.T) {
			conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
				attempts := enqueue(w, sides)
				require.Equal(t, admitted, state(attempts))
				for range attempts { // one after the other, from the front
					for _, at := range attempts {
						if !at.Waiting() && at.Lease.Err() == nil {
							require.NoError(t, at.Lease.Release())
							w.Settle()
							break
						}
					}
				}
				require.Equal(t, strings.Repeat(".", len(sides)), state(attempts))
			})
		})
	}
}

// In any queue, left in any order, exactly those are admitted at any moment that the
// rules admit.
func TestQueuesInAnyOrder(t *testing.T) {
	for seed := range uint64(30) {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			referee := &conformance.Referee{Shares: shares}
			var sides []byte
			for range 2 + rnd.IntN(8) {
				sides = append(sides, "RRW"[rnd.IntN(3)])
			}
			attempts := enqueue(w, string(sides))
			gone := make([]bool, len(sides))
			for range sides {
				for i, at := range attempts {
					writers, others := 0, 0
					for j := range i {
						if !gone[j] {
							others++
							writers += int((sides[j] - 'R') / ('W' - 'R'))
						}
					}
					free := others == 0 || sides[i] == 'R' && writers == 0
					require.Equal(t, !free && !gone[i], at.Waiting(), "%s: number %d, seed %d", sides, i, seed)
					if !at.Waiting() && !gone[i] {
						require.NoError(t, at.Lease.Err())
						referee.Grant(string('a'+rune(i)), at.Granted())
					}
				}
				i := rnd.IntN(len(sides))
				for gone[i] {
					i = (i + 1) % len(sides)
				}
				gone[i] = true
				if attempts[i].Waiting() {
					attempts[i].Cancel(errors.New("gives up"))
					require.Error(t, attempts[i].Failed())
				} else {
					require.NoError(t, attempts[i].Lease.Release())
				}
				w.After(100 * time.Millisecond)
			}
			require.Empty(t, children(w))
		})
	}
}

// A reader does not wait for a writer behind it, whatever that is named, and the two
// never wait for each other.
func TestReaderCountsOnlyWritersAhead_Kazoo1(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a := w.Client("first")
		held := w.Acquire(newLock(t, a).Write())
		attempts := enqueue(w, "RWR")
		behind := path + "/0000000000-__WRIT__0000000009"
		_, err := a.Create(t.Context(), behind, nil, framework.Ephemeral)
		require.NoError(t, err)
		require.NoError(t, held.Release())
		w.Settle()
		require.Equal(t, "Hww", state(attempts))
		require.NoError(t, attempts[0].Lease.Release())
		require.NoError(t, attempts[1].Granted().Release())
		require.NoError(t, attempts[2].Granted().Release())
		w.Remove(a, behind)
	})
}

// A writer is admitted although readers come all the time, and the other way round.
func TestNoContenderStarves(t *testing.T) {
	for _, sides := range []string{"RW", "WR"} {
		conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
			a, b := w.Client("many"), w.Client("one")
			held := w.Acquire(sideOf(t, a, rune(sides[0])))
			one := w.Start(sideOf(t, b, rune(sides[1])), lease.Forever)
			var many []*conformance.Attempt
			for range 10 {
				many = append(many, w.Start(sideOf(t, a, rune(sides[0])), lease.Forever))
			}
			require.True(t, one.Waiting())
			require.NoError(t, held.Release())
			w.Settle()
			for _, at := range many {
				require.True(t, at.Waiting())
			}
			require.NoError(t, one.Granted().Release())
			for _, at := range many {
				require.NoError(t, at.Granted().Release())
			}
		})
	}
}

// A mutex on the same path counts as a writer, in both directions.
func TestMutexOnThePathIsAWriter(t *testing.T) {
	conformance.InWorld(t, func(t *testing.T, w *conformance.World) {
		a, b := w.Client("a"), w.Client("b")
		m, err := mutex.New(b, path)
		require.NoError(t, err)
		l := newLock(t, a)
		referee := &conformance.Referee{Shares: shares}
		order := []lease.Acquirer{m, l.Read(), l.Read(), m, l.Write(), m, l.Read()}
		held := []*lease.Lease{}
		var attempts []*conformance.Attempt
		for _, side := range order {
			attempts = append(attempts, w.Start(side, lease.Forever))
		}
		for i := 0; i < len(order); {
			for ; i < len(order) && !attempts[i].Waiting(); i++ {
				held = append(held, attempts[i].Granted())
				referee.Grant("a client", attempts[i].Lease)
			}
			for _, h := range held {
				require.NoError(t, h.Release())
			}
			held = nil
			w.Settle()
		}
		require.Empty(t, referee.Faults())
		list, err := m.Contenders(t.Context())
		require.NoError(t, err)
		require.Empty(t, list)
	})
}

func TestInvalidArguments(t *testing.T) {
	for _, bad := range []string{"", "locks", "/", "/locks/", "/a//b", "/a/../b", "/a\x00b"} {
		_, err := rwlock.New(nil, bad)
		require.ErrorIs(t, err, framework.ErrInvalidPath, bad)
		require.ErrorContains(t, err, "rwlock")
	}
	_, err := rwlock.New(new(framework.Client), "/a", rwlock.WithMaxHold(-1))
	require.ErrorIs(t, err, framework.ErrInvalidArgument)
	_, err = rwlock.New(nil, "/a")
	require.ErrorIs(t, err, framework.ErrInvalidArgument)
	require.ErrorContains(t, err, "rwlock /a")
}
