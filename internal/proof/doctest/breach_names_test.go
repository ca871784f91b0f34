package doctest

import (
	"strings"
	"testing"
)

// These are checked against this module's API, and that of a small nested one.
func TestNamesAreHeld(t *testing.T) {
	t.Parallel()
	page := strings.Join([]string{
		"`lease.ErrLost` `mutex.Acquire(ctx, 5*time.Second)` `lease.Lease.Token` `[]framework.Observer{}` `framework.Config.CloseGrace`", // 1
		"`held.Token()` `client.Close` `Config.CloseGrace` `Lease.Err` `ErrLost` `WithLockDelay(time.Second)`",                           // 2
		"`redsync.ErrFailed` `Redis.Lock` `slog.Logger` `queue.go` `x/lease.Nothing` `go-lease.Nothing` `zkx.New` `zkx.Config.Check`",    // 3
		"`lease.ErrLosst`",                // 4
		"`lease.Lease.Tickets`",           // 5
		"`framework.Config.Close`",        // 6
		"`held.Tickets()`",                // 7
		"`f(client.Shut())`",              // 8
		"`Config.Paths`",                  // 9
		"`Lease.Fail`",                    // 10
		"`ErrNever` and `WithNothing(3)`", // 11
		"`zkx.Old`, `zkx.Config.None`",    // 12
		"| redis | zkrecipes |",           // 13
		"|---|---|",                       // 14
		"| `ErrTheirs` | `ErrOurs` |",     // 15
	}, "\n")
	r := small(t, map[string]string{"docs/a.md": page, "contrib/x/README.md": "`Config.Paths`, `Config.Ways`"})
	this := thisRepository(t)
	for name, e := range this.api {
		r.api[name] = e
	}
	expect(t, checkNames, r, "docs/a.md", 25,
		"docs/a.md:4: package lease has no ErrLosst; name what exists",
		"docs/a.md:5: lease.Lease has no Tickets",
		"docs/a.md:6: framework.Config has no Close",
		"docs/a.md:7: lease.Lease has no Tickets",
		"docs/a.md:8: framework.Client has no Shut",
		"docs/a.md:9: Config has no Paths",
		"docs/a.md:10: Lease has no Fail",
		"docs/a.md:11: no package exports ErrNever",
		"docs/a.md:11: no package exports WithNothing",
		"docs/a.md:12: package zkx has no Old",
		"docs/a.md:12: zkx.Config has no None",
		"docs/a.md:15: no package exports ErrOurs",
	)
	expect(t, checkNames, r, "contrib/x/README.md", 2, "contrib/x/README.md:1: Config has no Ways")
}
