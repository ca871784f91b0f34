package queue

import (
	"fmt"
	"time"

	"github.com/zkrecipes/zkrecipes/framework"
	"github.com/zkrecipes/zkrecipes/internal/quote"
	"github.com/zkrecipes/zkrecipes/internal/znode"
)

// CheckPlace returns why a recipe cannot be at a path of a client. What the recipe
// makes there, as in "a mutex", is for the error. A path that is called like a
// contender would be one, for ever, in the line of a recipe at the path above.
func CheckPlace(client *framework.Client, recipe, what, path string) error {
	if err := framework.ValidatePath(path); err != nil {
		return fmt.Errorf("%s: %w", recipe, err)
	}
	if path == "/" {
		return fmt.Errorf("%s: %w %q: %s needs a node of its own", recipe, framework.ErrInvalidPath, path, what)
	}
	if znode.Contends(path) {
		return fmt.Errorf("%s: %w \"%s\": its last element is the name of a contender's node, which keeps out who comes to the path above: "+
			"choose one that does not end like this", recipe, framework.ErrInvalidPath, quote.Path(path))
	}
	if client == nil {
		return fmt.Errorf("%s %s: %w: no client", recipe, quote.Path(path), framework.ErrInvalidArgument)
	}
	return nil
}

// maxLabel is the length of the longest label, in bytes. Every reader of the line gets
// it, and messages show no more than the beginning.
const maxLabel = 1024

// CheckLabel returns why the holders of a recipe at a path cannot be called that.
func CheckLabel(recipe, path, label string) error {
	if len(label) > maxLabel {
		return fmt.Errorf("%s %s: %w: a label of %d bytes, the limit is %d", recipe, quote.Path(path), framework.ErrInvalidArgument, len(label), maxLabel)
	}
	return nil
}

// CheckMaxHold returns why a recipe at a path cannot have that maximum hold time.
func CheckMaxHold(recipe, path string, d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("%s %s: %w: maximum hold time %v", recipe, quote.Path(path), framework.ErrInvalidArgument, d)
	}
	return nil
}
