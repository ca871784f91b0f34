package script

import (
	"context"
	"fmt"
	"strings"
)

// Compare runs a script on two servers and describes the first step with different
// answers, "" for none.
func Compare(ctx context.Context, one, other Dialer, root string, s Script) (difference string, err error) {
	want, err := Run(ctx, one, root, s)
	if err != nil {
		return "", fmt.Errorf("on the first server: %w", err)
	}
	got, err := Run(ctx, other, root, s)
	if err != nil {
		return "", fmt.Errorf("on the second server: %w", err)
	}
	for i := range want {
		if want[i] != got[i] {
			var b strings.Builder
			fmt.Fprintf(&b, "script %s\n", s.Name)
			for j := range i + 1 {
				fmt.Fprintf(&b, "%3d %v\n     %s\n", j, s.Steps[j], want[j])
			}
			fmt.Fprintf(&b, "but: %s\n", got[i])
			return b.String(), nil
		}
	}
	return "", nil
}

// Shrink removes from a script all steps that a difference between two servers does not
// need. root returns a new root for each try.
func Shrink(ctx context.Context, one, other Dialer, root func() string, s Script) Script {
	differs := func(steps []Step) bool {
		text, err := Compare(ctx, one, other, root(), Script{Name: s.Name, Steps: steps})
		return err == nil && text != ""
	}
	for size := max(len(s.Steps)/2, 1); size >= 1; size /= 2 {
		for i := 0; i+size <= len(s.Steps); {
			tried := append(append([]Step{}, s.Steps[:i]...), s.Steps[i+size:]...)
			if differs(tried) {
				s.Steps = tried
				continue
			}
			i++
		}
	}
	return s
}
