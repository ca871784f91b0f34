package guard

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Whatever happens in whatever order: the deadline is min(A, Q) plus the window while
// work relies on the session, and once it was passed it stays.
func TestTrustDeadlineIsNeverRevived(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		start := time.Now()
		var tr trust
		now := start
		tr.begin(now, now, sessionLength)
		a, q, timeout, relied := now, now, sessionLength, 0
		var over time.Time
		due := func() time.Time {
			since := a
			if relied > 0 && q.Before(a) {
				since = q
			}
			return since.Add(trustWindow(timeout))
		}
		step := time.Duration(1+random.IntN(4000)) * time.Millisecond
		for range 40 {
			now = now.Add(time.Duration(random.Int64N(int64(step))))
			if over.IsZero() && !now.Before(due()) {
				over = due()
			}
			sent := now.Add(-time.Duration(random.IntN(800)) * time.Millisecond)
			if sent.Before(start) {
				sent = start
			}
			switch random.IntN(6) {
			case 0:
				granted := sessionLength * time.Duration(6+random.IntN(8)) / 6
				if over.IsZero() {
					timeout = min(timeout, granted)
					if sent.After(a) {
						a = sent
					}
				}
				tr.begin(sent, now, granted)
			case 1:
				if over.IsZero() && sent.After(q) {
					q = sent
				}
				tr.committed(sent, now)
			case 2:
				young := over.IsZero() && now.Sub(q) < timeout/2 && !tr.doubtful
				require.Equal(t, young, tr.rely(now))
				if young {
					relied++
				}
			case 3:
				if relied > 0 {
					tr.leave(now)
					relied--
				}
			case 4:
				tr.answer(sent, now, true)
				require.True(t, over.IsZero() || tr.proved.Equal(a), "what is over is not proved any more")
				a = tr.proved
			case 5:
				require.Equal(t, !over.IsZero(), tr.expired(now) != nil)
			}
			if !over.IsZero() {
				require.Equal(t, over, tr.until())
				require.ErrorIs(t, tr.expired(now), ErrTrustExpired)
			} else {
				require.Equal(t, due(), tr.until())
			}
		}
	}
}
