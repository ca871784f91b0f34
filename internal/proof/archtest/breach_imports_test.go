package archtest

import (
	"fmt"
	"testing"
)

func importing(pkg string, paths ...string) string {
	src := "package " + pkg + "\n"
	for _, p := range paths {
		src += fmt.Sprintf("import %q\n", p)
	}
	return src
}

func TestDirectionIsHeld(t *testing.T) {
	t.Parallel()
	const ours = "example.com/m/"
	for name, tc := range map[string]struct {
		files sources
		want  []string
	}{
		"allowed imports": {sources{
			"cmd/tool/main.go":                  importing("main", ours+"recipes/mutex", ours+"framework", ours+"zktest"),
			"examples/one/main.go":              importing("main", ours+"zktest", ours+"recipes/lease"),
			"inspect/inspect.go":                importing("inspect", ours+"recipes/mutex", ours+"recipes/leader", ours+"internal/znode"),
			"recipes/mutex/mutex.go":            importing("mutex", ours+"recipes/lease", ours+"internal/queue", ours+"recipes/mutex/internal/x", ours+"retry"),
			"recipes/lease/lease.go":            importing("lease", ours+"framework", ours+"internal/owner", ours+"internal/znode"),
			"recipes/lease/leasetest/fake.go":   importing("leasetest", ours+"recipes/lease"),
			"internal/hold/hold.go":             importing("hold", ours+"recipes/lease", ours+"internal/owner", ours+"retry"),
			"internal/queue/queue.go":           importing("queue", ours+"framework", ours+"internal/kit", ours+"internal/hold", ours+"recipes/lease"),
			"internal/znode/name.go":            importing("znode", ours+"framework"),
			"internal/kit/kit.go":               importing("kit", ours+"framework", ours+"internal/kit/bridge"),
			"internal/kit/bridge/bridge.go":     importing("bridge", "context"),
			"internal/owner/owner.go":           importing("owner", "context"),
			"framework/client.go":               importing("framework", ours+"retry", ours+"framework/internal/guard", ours+"internal/jute", ours+"internal/kit/bridge"),
			"zktest/server.go":                  importing("zktest", ours+"internal/jute"),
			"internal/jute/jute.go":             importing("jute", "io"),
			"framework/client_test.go":          importing("framework_test", ours+"recipes/mutex", ours+"zktest"),
			"internal/proof/conformance/all.go": importing("conformance", ours+"recipes/lease", ours+"zktest"),
		}, nil},
		"up from the framework": {
			sources{"framework/a.go": importing("framework", ours+"recipes/lease")},
			[]string{"framework/a.go:2: framework imports recipes/lease: imports go cmd, examples -> inspect -> recipes"},
		},
		"up from below the framework": {
			sources{"framework/guard/a.go": importing("guard", ours+"internal/queue")},
			[]string{"framework/guard/a.go:2: framework/guard imports internal/queue: imports go"},
		},
		"up from the framework to the kit": {
			sources{"framework/a.go": importing("framework", ours+"internal/kit")},
			[]string{"framework/a.go:2: framework imports internal/kit: imports go"},
		},
		"up from the kit": {
			sources{"internal/kit/a.go": importing("kit", ours+"internal/queue")},
			[]string{"internal/kit/a.go:2: internal/kit imports internal/queue: imports go"},
		},
		"up from retry": {
			sources{"retry/a.go": importing("retry", ours+"framework")},
			[]string{"retry/a.go:2: retry imports framework: imports go"},
		},
		"up from a recipe": {
			sources{"recipes/mutex/a.go": importing("mutex", ours+"inspect")},
			[]string{"recipes/mutex/a.go:2: recipes/mutex imports inspect: imports go"},
		},
		"up from inspect": {
			sources{"inspect/a.go": importing("inspect", ours+"cmd/tool/flags", ours+"zktest")},
			[]string{"inspect/a.go:2: inspect imports cmd/tool/flags: imports go", "inspect/a.go:3: inspect imports zktest: zktest is for tests"},
		},
		"up from hold": {
			sources{"internal/hold/a.go": importing("hold", ours+"internal/queue")},
			[]string{"internal/hold/a.go:2: internal/hold imports internal/queue: imports go"},
		},
		"up from the queue": {
			sources{"internal/queue/a.go": importing("queue", ours+"recipes/mutex")},
			[]string{"internal/queue/a.go:2: internal/queue imports recipes/mutex: imports go"},
		},
		"up from the queue, to packages beside and above": {
			sources{"internal/queue/a.go": importing("queue", ours+"internal/recipepath", ours+"internal/acquire")},
			[]string{
				"internal/queue/a.go:2: internal/queue imports internal/recipepath: imports go",
				"internal/queue/a.go:3: internal/queue imports internal/acquire: imports go",
			},
		},
		"recipes/lease imports more than the leaves": {
			sources{
				"recipes/lease/a.go":  importing("lease", ours+"internal/hold", ours+"internal/jute", ours+"retry", ours+"zktest", ours+"internal/znode"),
				"internal/znode/a.go": importing("znode", ours+"internal/hold"),
			},
			[]string{
				"recipes/lease/a.go:2: recipes/lease imports internal/hold: imports go",
				"recipes/lease/a.go:3: recipes/lease imports internal/jute: recipes/lease stays small", "recipes/lease/a.go:4: recipes/lease imports retry: recipes/lease stays small",
				"recipes/lease/a.go:5: recipes/lease imports zktest: zktest is for tests",
				"recipes/lease/a.go:6: recipes/lease imports internal/hold by way of internal/znode: imports go",
			},
		},
		"lease imports a recipe": {
			sources{"recipes/lease/a.go": importing("lease", ours+"recipes/mutex")},
			[]string{"recipes/lease/a.go:2: recipes/lease imports recipes/mutex: imports go"},
		},
		"a recipe imports another": {
			sources{"recipes/leader/a.go": importing("leader", "context", ours+"recipes/mutex")},
			[]string{"recipes/leader/a.go:3: recipes/leader imports recipes/mutex: no recipe imports another"},
		},
		"a recipe imports a program": {
			sources{"recipes/leader/a.go": importing("leader", ours+"cmd/tool/flags")},
			[]string{"recipes/leader/a.go:2: recipes/leader imports cmd/tool/flags: imports go"},
		},
		"an indirect import counts too": {
			sources{
				"recipes/leader/a.go":     importing("leader", ours+"internal/x"),
				"internal/x/a.go":         importing("x", ours+"internal/y"),
				"internal/y/a.go":         importing("y", ours+"recipes/mutex", ours+"internal/x"),
				"internal/y/only_test.go": importing("y", ours+"recipes/rwlock"),
			},
			[]string{"recipes/leader/a.go:2: recipes/leader imports recipes/mutex by way of internal/x: no recipe imports another"},
		},
		"a shipped package imports a test package": {
			sources{
				"recipes/mutex/a.go":                importing("mutex", ours+"internal/proof/conformance"),
				"internal/x/a.go":                   importing("x", ours+"internal/proof/tlstest"),
				"internal/proof/conformance/all.go": importing("conformance", ours+"internal/proof/histories"),
			},
			[]string{
				"internal/x/a.go:2: internal/x imports internal/proof/tlstest: internal/proof is only for tests",
				"recipes/mutex/a.go:2: recipes/mutex imports internal/proof/conformance: internal/proof is only for tests",
			},
		},
		"zktest imports the client": {
			sources{"zktest/a.go": importing("zktest", ours+"framework", ours+"retry", ours+"internal/queue", ours+"recipes/lease")},
			[]string{
				"zktest/a.go:2: zktest imports framework: zktest must not depend",
				"zktest/a.go:3: zktest imports retry: zktest must not depend",
				"zktest/a.go:4: zktest imports internal/queue: zktest must not depend",
				"zktest/a.go:5: zktest imports recipes/lease: zktest must not depend",
			},
		},
		"library code uses the test server": {
			sources{"recipes/mutex/a.go": importing("mutex", ours+"zktest")},
			[]string{"recipes/mutex/a.go:2: recipes/mutex imports zktest: zktest is for tests"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expect(t, checkDirection(parse(t, tc.files)), tc.want...)
		})
	}
}

func TestDependenciesAreHeld(t *testing.T) {
	t.Parallel()
	found := checkDependencies(parse(t, sources{
		"framework/a.go":                    importing("framework", zkPath, "net/http"),
		"framework/wire/a.go":               importing("wire", zkPath),
		"retry/a.go":                        importing("retry", backoffPath+"/v4"),
		"retry/a_test.go":                   importing("retry", zkPath, "github.com/stretchr/testify/require"),
		"internal/proof/conformance/a.go":   importing("conformance", "github.com/stretchr/testify/require"),
		"internal/proof/conformance/b.go":   importing("conformance", zkPath),
		"internal/hold/a.go":                importing("hold", backoffPath+"/v5"),
		"recipes/lease/a.go":                importing("lease", "example.com/m/internal/clock"),
		"internal/clock/a.go":               importing("clock", "github.com/benbjohnson/clock"),
		"zktest/a.go":                       importing("zktest", "example.com/mistaken/m", "testing"),
		"internal/proof/conformance/a_t.go": importing("conformance", "github.com/go-zookeeper/zkother"),
	}))
	expect(t, found,
		"internal/clock/a.go:2: internal/clock imports github.com/benbjohnson/clock: a user's program must not need",
		"internal/hold/a.go:2: internal/hold imports "+backoffPath+"/v5: only retry may",
		"internal/proof/conformance/b.go:2: internal/proof/conformance imports "+zkPath+": only framework may",
		"zktest/a.go:2: zktest imports example.com/mistaken/m: a user's program must not need",
	)
}
