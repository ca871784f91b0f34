package histories

import (
	"errors"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"
)

// during gives an op the interval in which it took effect.
func during(call, returned int64, o op) op {
	o.Call, o.Return = call, returned
	return o
}

func granted(token int64) op   { return op{What: opAcquire, Token: token} }
func entered(token int64) op   { return op{What: opAcquire, Token: token, Inner: true} }
func ended(token int64) op     { return op{What: opEnd, Token: token, Err: errors.New("over")} }
func confirmed(token int64) op { return op{What: opConfirm, Token: token} }

func reads(o op) op  { o.Side = read; return o }
func writes(o op) op { o.Side = write; return o }

func takes(n int) op   { return op{What: opAcquire, N: n} }
func returns(n int) op { return op{What: opEnd, N: n, Err: errors.New("over")} }
func resized(n int) op { return op{What: opResize, N: n} }
func sized(n int) op   { return op{What: opSize, N: n} }

// on gives an op one slot of each lock, of which 0 stands for none.
func on(o op, tokens ...int64) op {
	for lock, token := range tokens {
		if token > 0 {
			o.Slots = append(o.Slots, &slot{lock: lock, token: token, inner: o.Inner})
		}
	}
	return o
}

func takesAll(tokens ...int64) op  { return on(granted(0), tokens...) }
func entersAll(tokens ...int64) op { return on(entered(0), tokens...) }
func endsAll(tokens ...int64) op   { return on(ended(0), tokens...) }
func hasAll(tokens ...int64) op    { return on(confirmed(0), tokens...) }

// takesSecond enters the first lock, and is granted the second.
func takesSecond(entered, granted int64) op {
	o := entersAll(entered)
	o.Slots = append(o.Slots, &slot{lock: 1, token: granted})
	return o
}

// mixes gives an op slots of mixed locks: of the read-write lock, which has a token,
// and permits of the single queue.
func mixes(o op, side string, token int64, n int) op {
	o.Slots = []*slot{{lock: readWriteLock, side: side, token: token, inner: o.Inner}, {lock: singleQueue, n: n}}
	return o
}

func TestModels(t *testing.T) {
	unanswered := errors.New("no answer")
	inDoubt := func(o op) op { o.Err = unanswered; return o }
	tests := map[string]struct {
		model   func(int) porcupine.Model
		legal   bool
		history []op
	}{
		"mutex: one after the other": {exclusiveModel, true, []op{
			during(1, 2, granted(10)), during(3, 4, ended(10)), during(5, 6, granted(11)), during(7, 8, ended(11)),
		}},
		"mutex: granted while the other ends": {exclusiveModel, true, []op{
			during(1, 2, granted(10)), during(3, 9, ended(10)), during(4, 6, granted(11)),
		}},
		"mutex: two holders": {exclusiveModel, false, []op{
			during(1, 2, granted(10)), during(3, 4, granted(11)), during(5, 6, ended(10)), during(7, 8, ended(11)),
		}},
		"mutex: two holders, one for ever": {exclusiveModel, false, []op{
			during(1, 2, granted(10)), during(7, never, ended(10)), during(3, 4, granted(11)),
		}},
		"mutex: two holders for a moment": {exclusiveModel, false, []op{
			during(1, 2, granted(10)), during(6, 7, ended(10)), during(3, 5, granted(11)),
		}},
		"mutex: tokens that shrink": {exclusiveModel, false, []op{
			during(1, 2, granted(11)), during(3, 4, ended(11)), during(5, 6, granted(10)),
		}},
		"mutex: a token twice": {exclusiveModel, false, []op{
			during(1, 2, granted(10)), during(3, 4, ended(10)), during(5, 6, granted(10)),
		}},
		"mutex: it is held until its last lease ends": {exclusiveModel, false, []op{
			during(1, 2, granted(10)), during(3, 4, entered(10)), during(5, 6, ended(10)), during(7, 8, granted(11)), during(9, 10, ended(10)),
		}},
		"mutex: re-entered after its end": {exclusiveModel, false, []op{
			during(1, 2, granted(10)), during(3, 4, ended(10)), during(5, 6, entered(10)),
		}},
		"mutex: re-entered and released": {exclusiveModel, true, []op{
			during(1, 2, granted(10)), during(3, 4, entered(10)), during(5, 6, ended(10)), during(7, 8, ended(10)), during(9, 10, granted(11)),
		}},
		"mutex: confirmed after another was granted": {exclusiveModel, false, []op{
			during(1, 2, granted(10)), during(2, 3, ended(10)), during(4, 5, granted(11)), during(6, 7, confirmed(10)),
		}},
		"mutex: confirmed": {exclusiveModel, true, []op{during(1, 2, granted(10)), during(3, 4, confirmed(10))}},

		"rwlock: readers together": {sharedModel, true, []op{
			during(1, 2, reads(granted(10))), during(3, 4, reads(granted(11))), during(5, 6, reads(ended(10))), during(7, 8, reads(ended(11))),
			during(9, 10, writes(granted(12))),
		}},
		"rwlock: a writer beside a reader": {sharedModel, false, []op{
			during(1, 2, reads(granted(10))), during(3, 4, writes(granted(11))), during(5, 6, reads(ended(10))),
		}},
		"rwlock: a reader beside a writer": {sharedModel, false, []op{
			during(1, 2, writes(granted(10))), during(3, 4, reads(granted(11))), during(5, 6, writes(ended(10))),
		}},
		"rwlock: two writers": {sharedModel, false, []op{
			during(1, 2, writes(granted(10))), during(3, 4, writes(granted(11))), during(5, 6, writes(ended(10))),
		}},
		"rwlock: a downgrade": {sharedModel, true, []op{
			during(1, 2, writes(granted(10))), during(3, 4, reads(entered(10))), during(5, 6, writes(ended(10))),
			during(7, 8, reads(granted(12))), during(9, 10, reads(ended(10))), during(11, 12, reads(ended(12))), during(13, 14, writes(granted(13))),
		}},
		"rwlock: a writer beside a downgraded writer": {sharedModel, false, []op{
			during(1, 2, writes(granted(10))), during(3, 4, reads(entered(10))), during(5, 6, writes(ended(10))),
			during(7, 8, writes(granted(11))), during(9, 10, reads(ended(10))),
		}},
		"rwlock: an upgrade": {sharedModel, false, []op{
			during(1, 2, reads(granted(10))), during(3, 4, writes(entered(10))),
		}},
		"rwlock: a writer's token is not the greatest": {sharedModel, false, []op{
			during(1, 2, reads(granted(11))), during(3, 4, reads(ended(11))), during(5, 6, writes(granted(10))),
		}},
		"rwlock: readers in any order": {sharedModel, true, []op{
			during(1, 2, reads(granted(11))), during(3, 4, reads(granted(10))),
		}},
		"rwlock: a reader older than the writer before it": {sharedModel, false, []op{
			during(1, 2, writes(granted(11))), during(3, 4, writes(ended(11))), during(5, 6, reads(granted(10))),
		}},

		"multi-lock: one after the other": {severalModel, true, []op{
			during(1, 2, takesAll(10, 11)), during(3, 4, endsAll(10, 11)), during(5, 6, takesAll(12, 13)),
		}},
		"multi-lock: two single locks": {severalModel, true, []op{
			during(1, 2, takesAll(0, 10)), during(3, 4, takesAll(11)), during(5, 6, endsAll(0, 10)), during(7, 8, endsAll(11)),
		}},
		"multi-lock: beside the first lock": {severalModel, false, []op{
			during(1, 2, takesAll(10)), during(3, 4, takesAll(11, 12)), during(5, 6, endsAll(10)),
		}},
		"multi-lock: beside the second lock": {severalModel, false, []op{
			during(1, 2, takesAll(0, 10)), during(3, 4, takesAll(11, 12)), during(5, 6, endsAll(0, 10)),
		}},
		"multi-lock: the second lock beside it": {severalModel, false, []op{
			during(1, 2, takesAll(10, 11)), during(3, 4, takesAll(0, 12)), during(5, 6, endsAll(10, 11)),
		}},
		"multi-lock: granted when only one lock is free": {severalModel, false, []op{
			during(1, 2, takesAll(10)), during(3, 4, takesAll(0, 11)), during(5, 6, endsAll(0, 11)), during(4, 7, takesAll(12, 13)),
			during(8, 9, endsAll(10)),
		}},
		"multi-lock: it goes on with one of its locks": {severalModel, false, []op{
			during(1, 2, takesAll(10, 11)), during(3, 4, takesAll(0, 12)), during(5, 6, hasAll(10, 11)), during(7, 8, endsAll(10, 11)),
		}},
		"multi-lock: a token of its second lock that shrinks": {severalModel, false, []op{
			during(1, 2, takesAll(10, 12)), during(3, 4, endsAll(10, 12)), during(5, 6, takesAll(13, 11)),
		}},
		"multi-lock: confirmed after its second lock was granted to another": {severalModel, false, []op{
			during(1, 2, takesAll(10, 11)), during(2, 9, endsAll(10, 11)), during(3, 4, takesAll(0, 12)), during(5, 6, hasAll(10, 11)),
		}},
		"multi-lock: re-entered": {severalModel, true, []op{
			during(1, 2, takesAll(10)), during(3, 4, takesSecond(10, 11)), during(5, 6, entersAll(0, 11)), during(7, 8, endsAll(10, 11)),
			during(9, 10, endsAll(10)), during(11, 12, takesAll(12)), during(13, 14, endsAll(0, 11)), during(15, 16, takesAll(0, 13)),
		}},
		"multi-lock: re-entered, and free for others": {severalModel, false, []op{
			during(1, 2, takesAll(10)), during(3, 4, takesSecond(10, 11)), during(5, 6, endsAll(10, 11)), during(7, 8, takesAll(12, 13)),
			during(9, 10, endsAll(10)),
		}},
		"multi-lock: re-entered without the second lock": {severalModel, false, []op{
			during(1, 2, takesAll(10)), during(3, 4, entersAll(10, 11)),
		}},

		"mixed locks: readers together, as long as there are permits": {mixedModel, true, []op{
			during(1, 2, mixes(granted(0), read, 10, 2)), during(3, 4, mixes(granted(0), read, 11, 1)), during(5, 6, mixes(ended(0), read, 10, 2)),
		}},
		"mixed locks: one permit too many": {mixedModel, false, []op{
			during(1, 2, mixes(granted(0), read, 10, 2)), during(3, 4, mixes(granted(0), read, 11, 2)), during(5, 6, mixes(ended(0), read, 10, 2)),
		}},
		"mixed locks: a writer beside a reader": {mixedModel, false, []op{
			during(1, 2, mixes(granted(0), read, 10, 1)), during(3, 4, mixes(granted(0), write, 11, 1)), during(5, 6, mixes(ended(0), read, 10, 1)),
		}},
		"mixed locks: two holders of the mutex": {mixedModel, false, []op{
			during(1, 2, takesAll(10)), during(3, 4, takesAll(11)), during(5, 6, endsAll(10)),
		}},

		"semaphore: all permits held": {countedModel, true, []op{
			during(1, 2, takes(2)), during(3, 4, takes(1)), during(5, 6, returns(2)), during(7, 8, takes(2)),
		}},
		"semaphore: one too many": {countedModel, false, []op{
			during(1, 2, takes(2)), during(3, 4, takes(2)), during(5, 6, returns(2)), during(7, 8, returns(2)),
		}},
		"semaphore: one too many for the new size": {countedModel, false, []op{
			during(1, 2, takes(2)), during(3, 4, resized(2)), during(5, 6, takes(1)), during(7, 8, returns(2)),
		}},
		"semaphore: no permit is lost when it shrinks": {countedModel, true, []op{
			during(1, 2, takes(2)), during(3, 4, resized(1)), during(5, 6, returns(2)), during(7, 8, takes(1)),
		}},
		"semaphore: more when it has grown":      {countedModel, true, []op{during(1, 2, resized(4)), during(3, 4, takes(4))}},
		"semaphore: more when it may have grown": {countedModel, true, []op{during(1, 2, inDoubt(resized(4))), during(8, 9, takes(4))}},
		"semaphore: no more when it may not have grown": {countedModel, true, []op{
			during(1, 2, inDoubt(resized(4))), during(3, 4, sized(3)), during(5, 6, takes(3)),
		}},
		"semaphore: it did not grow, and then it did": {countedModel, false, []op{
			during(1, 2, inDoubt(resized(4))), during(3, 4, sized(4)), during(5, 6, sized(3)),
		}},
		"semaphore: an old size": {countedModel, false, []op{during(1, 2, resized(4)), during(3, 4, sized(3))}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := check(test.model(3), test.history)
			if test.legal {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, "no order")
			}
		})
	}
}
