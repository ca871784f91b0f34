// Package striped has a fixed number of mutexes, the stripes, at one path, for two
// purposes.
//
// Many keys: [Locks.For] returns the mutex of a key. Equal keys have the same one, so
// they exclude each other; different keys seldom do, and millions of keys need no more
// znodes than there are stripes:
//
//	accounts, err := striped.New(client, "/locks/accounts", 64)
//	if err != nil {
//		return err
//	}
//	return lease.Do(ctx, accounts.For(id), 5*time.Second, func(ctx context.Context, held *lease.Lease) error {
//		return book(ctx, held.Token())
//	})
//
// One hot key: [Locks.AcquireAny] acquires any stripe that is free, and says which. The
// stock of an article, say, is divided into as many shares as there are stripes, each
// sold under its own mutex. One mutex grants one lease after another; n shares grant
// about n times as many, until the servers have no more to give:
//
//	stock, err := striped.New(client, "/locks/articles/4711", 16)
//	...
//	held, share, err := stock.AcquireAny(ctx, time.Second)
//
// Each stripe is a mutex at path/stripe-0000, path/stripe-0001 and so on: fair and
// reentrant, with a fencing token of its own, and what package lease says of leases is
// true of it. Tokens of different stripes are not comparable.
//
// # Keys
//
// A key may be any text, also an empty one; it never becomes a part of a path. Its
// stripe is SHA-256 of the key, of that the first eight bytes as a big-endian number,
// modulo the number of stripes. That does not change, so programs in other languages
// can agree; the path stores the number as in "64 stripes".
//
// Two keys can have one stripe. Then the holder of one keeps those of the other out,
// and with the context of its lease an Acquire for the other key re-enters the stripe.
// To lock several keys at once, give [Locks.ForAll] to package multilock, which waits
// in an order in which nobody blocks another. To acquire one key after another, each
// with the context of the one before, can block two callers for ever.
//
// # The number of stripes
//
// It is stored at the path, and a value with another number gets [ErrSizeMismatch], so
// that two programs that disagree cannot hold one key at the same time. The number is
// verified after each stripe was admitted and before it is granted: by a watch, which
// costs nothing while it stands, or by a read. [Locks.Resize] changes it, holding all
// stripes. Then all values that were made with the old number are refused: make new
// ones.
//
// The path and the stripes are created as containers, which the server removes some
// time, by default a minute, after their last use. The number goes with the path, and
// the next client stores its own. Create the path as a persistent node to keep it. Data
// that is not such a number is not overwritten ([lease.ErrForeignData]), and a path
// that another recipe is using is refused ([lease.ErrOtherRecipe]). Apache Curator has
// no such recipe; its InterProcessMutex at path/stripe-0000 excludes that stripe, but
// does not verify the number. Nor does a mutex there, which is another owner, too.
//
// # AcquireAny
//
// A call joins the queue of one stripe: of those that its value uses least, the one
// where it had not to wait, or had to wait longest ago. While calls wait, one of those
// of a value looks from time to time at the other stripes, at sixteen of them at most:
// soon after a call began to wait, or a lease has ended, and then after pauses that
// grow to 10 s. If one is free it moves there. If none is, and the holder at its own
// stripe has stayed for a second while others went on at another one, it moves there,
// to the end of that queue. So no call waits for long behind a slow holder, and a
// waiting call costs the servers nothing that grows with the number of waiters. The
// price is fairness: each queue is fair, but all of them together are not.
//
// The idea of stripes is that of Striped in Google's Guava.
package striped
