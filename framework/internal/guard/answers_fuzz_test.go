package guard_test

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/framework/internal/guard"
	"github.com/zkrecipes/zkrecipes/retry"
)

// An answer or event of any content passes through the library and back to the caller.
// It neither crashes the process, nor takes more memory than its bytes justify, nor
// keeps the caller waiting.
func FuzzAnswers(f *testing.F) {
	s := &hostileServer{say: func(xid, _ int32) []byte { return guard.AnswerFrame(xid, 1, 0, guard.Text("/")...) }}
	c := s.connect(f, func(cfg *framework.Config) {
		cfg.MaxReplyBytes = 8 << 10
		cfg.Reconnect = retry.Constant(100 * time.Microsecond)
		cfg.SessionTimeout = time.Minute
	})
	var names []string
	for name := range calls(f.Context(), c) {
		// A watch makes a new connection wait, and its read has the same answer. "Many
		// at once" is a multi, and further requests when that fails.
		if !strings.Contains(name, "watch") && name != "many at once" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	const event = 0xff
	for i, name := range names {
		op := calls(f.Context(), c)[name].op
		for _, body := range append(guard.WellFormed()[op], slices.Collect(maps.Values(guard.Malformed[op]))...) {
			f.Add(byte(i), int32(0), body)
		}
		f.Add(byte(i), int32(guard.CodeNoNode), []byte{1, 2, 3})
		f.Add(byte(i), int32(17), []byte{})
		f.Add(byte(i), int32(0), make([]byte, 10<<10))
	}
	f.Add(byte(event), int32(0), append([]byte{0, 0, 0, 2, 0, 0, 0, 3}, guard.Text("/a")...))
	f.Add(byte(event), int32(0), []byte{0, 0, 0, 2, 0, 0, 0, 3, 0x7f, 0xff, 0xff, 0xf0})
	f.Fuzz(func(t *testing.T, which byte, code int32, body []byte) {
		name := names[int(which)%len(names)]
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		request := calls(ctx, c)[name]
		s.mu.Lock()
		s.say = func(xid, op int32) []byte {
			switch {
			case which == event:
				return append(guard.AnswerFrame(guard.XidEvent, 0, 0, body...), guard.AnswerFrame(xid, 1, guard.CodeNoNode)...)
			case op == request.op:
				return guard.AnswerFrame(xid, 1, code, body...)
			}
			return guard.AnswerFrame(xid, 1, 0, guard.Text("/")...) // the client's own syncs
		}
		s.mu.Unlock()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = request.call()
		runtime.ReadMemStats(&after)
		require.NoError(t, ctx.Err(), "no answer, and no error")
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20+64*len(body)))
	})
}
