package recipepath

import (
	"fmt"
	"strings"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/hold"
	"github.com/zkrecipes/zkrecipes/internal/kit"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// An Intent describes the recipe that is to be made at a path.
type Intent struct {
	// Client is any client.
	Client *framework.Client
	// Path is that of the recipe.
	Path string
	// Package is the recipe's package, and What the recipe, as in "a mutex": for
	// errors.
	Package, What string
	// Label names the holders.
	Label string
	// Terms are the times of its slots.
	Terms hold.Terms
}

// maxLabel is the length of the longest label, in bytes. Every reader of the queue gets
// it, and messages show only its beginning.
const maxLabel = 1024

// maxLockDelay is the longest lock-delay.
const maxLockDelay = 24 * time.Hour

// Check returns why the recipe cannot be made. A path with the name of a contender's
// node would contend for ever, for a recipe at the path above.
func (i Intent) Check() error {
	if err := framework.ValidatePath(i.Path); err != nil {
		return fmt.Errorf("%s: %w", i.Package, err)
	}
	switch {
	case i.Path == "/":
		return fmt.Errorf("%s: %w %q: %s needs a node of its own", i.Package, framework.ErrInvalidPath, i.Path, i.What)
	case znode.Contends(i.Path):
		return fmt.Errorf("%s: %w \"%s\": its last element is the name of a contender's node, which would contend at the path above: "+
			"choose one that does not end like this", i.Package, framework.ErrInvalidPath, quote.Path(i.Path))
	case strings.HasSuffix(i.Path, "/"+znode.LockDelayDir):
		return fmt.Errorf("%s: %w \"%s\": below a node of that name a lock has the records of its holders: give the path of that lock, or choose another name",
			i.Package, framework.ErrInvalidPath, quote.Path(i.Path))
	case kit.Usable(i.Client) != nil:
		return fmt.Errorf("%s %s: %w", i.Package, quote.Path(i.Path), kit.Usable(i.Client))
	case len(i.Label) > maxLabel:
		return i.Invalid("a label of %d bytes, the limit is %d", len(i.Label), maxLabel)
	case i.Terms.MaxHold < 0:
		return i.Invalid("the maximum hold time %v is negative", i.Terms.MaxHold)
	case i.Terms.MinHold < 0:
		return i.Invalid("the minimum hold time %v is negative", i.Terms.MinHold)
	case i.Terms.MaxHold > 0 && i.Terms.MinHold > i.Terms.MaxHold:
		return i.Invalid("the minimum hold time %v is longer than the maximum hold time %v", i.Terms.MinHold, i.Terms.MaxHold)
	case i.Terms.LockDelay < 0:
		return i.Invalid("the lock-delay %v is negative", i.Terms.LockDelay)
	case i.Terms.LockDelay > maxLockDelay:
		return i.Invalid("a lock-delay of %v, the limit is %v", i.Terms.LockDelay, maxLockDelay)
	}
	return nil
}

// NotMade returns the error for a nil or zero value of a recipe's type, as in
// "mutex.Mutex". Its methods return it, or panic with it if they return no error.
func NotMade(recipe string) error {
	pkg, _, _ := strings.Cut(recipe, ".")
	return fmt.Errorf("%s: %w: a nil or zero %s: make one with %s.New", pkg, framework.ErrInvalidArgument, recipe, pkg)
}

// Invalid returns the error for an invalid argument.
func (i Intent) Invalid(format string, args ...any) error {
	return fmt.Errorf("%s %s: %w: %s", i.Package, quote.Path(i.Path), framework.ErrInvalidArgument, fmt.Sprintf(format, args...))
}
