package archtest

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// These are what the table of recipes has to have, by the column that names it: what is
// on Curator's page of recipes, and what has its place in its package of them; what is
// on Redisson's page of locks and synchronizers; and what the two packages of etcd
// export. A name may be a part of what a row says, so that a row says "`Mutex`" once.
var recipesOfOthers = [][]string{
	columnCurator: {
		"LeaderLatch", "LeaderSelector",
		"InterProcessMutex", "InterProcessSemaphoreMutex", "InterProcessReadWriteLock", "InterProcessSemaphore", "InterProcessSemaphoreV2",
		"InterProcessMultiLock", "Locker", "Revoker", "DistributedBarrier", "DistributedDoubleBarrier", "SharedCount", "SharedValue",
		"DistributedAtomicLong", "DistributedAtomicInteger", "DistributedAtomicValue", "CachedAtomicLong", "CachedAtomicInteger",
		"CuratorCache", "PathChildrenCache", "NodeCache", "TreeCache",
		"PersistentWatcher", "PersistentNode", "PersistentEphemeralNode", "PersistentTtlNode", "GroupMember",
		"DistributedQueue", "DistributedIdQueue", "DistributedPriorityQueue", "DistributedDelayQueue", "SimpleDistributedQueue", "QueueSharder",
		"ServiceDiscovery", "Reaper", "ChildReaper",
	},
	columnRedisson: {
		"getLock", "getNonReentrantLock", "getFairLock", "getNonReentrantFairLock", "getMultiLock", "getRedLock", "getReadWriteLock",
		"getSemaphore", "getPermitExpirableSemaphore", "getCountDownLatch", "getSpinLock", "getFencedLock",
	},
	columnEtcd: {
		"Session", "WithLease", "Mutex", "TryLock", "IsOwner", "NewLocker", "Election", "Campaign", "Proclaim", "Resign", "Leader", "Observe",
		"ResumeElection", "NewSTM", "Barrier", "DoubleBarrier", "Queue", "PriorityQueue", "RWMutex",
	},
}

const (
	columnCurator = iota + 1
	columnRedisson
	columnEtcd
	columnHere
	cellsOfARow
)

var (
	answer   = regexp.MustCompile(`^(yes: .+|no: .+|planned)$`)
	cellLink = regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`)
	cellName = regexp.MustCompile("`([^`]+)`")
	testName = regexp.MustCompile(`^(Test|Example)([A-Z_][A-Za-z0-9_]*)?$`)
)

// recipesPage has the table of recipes. Its links are relative to its folder.
const recipesPage = "docs/recipes.md"

// TestTableOfRecipes checks the table of recipes: each row has an answer, each
// yes a test that exists, and no recipe of the others is missing.
func TestTableOfRecipes(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(path.Join(root, recipesPage))
	require.NoError(t, err)
	report(t, checkRecipes(string(page), os.DirFS(root), recipesOfOthers))
}

// checkRecipes checks the table of recipes on a page.
func checkRecipes(page string, files fs.FS, others [][]string) []violation {
	c := recipesChecker{files: files, named: make([][]string, cellsOfARow)}
	inSection := false
	for i, line := range strings.Split(page, "\n") {
		c.line = i + 1
		switch {
		case strings.HasPrefix(line, "## "):
			inSection = line == "## Which recipes"
		case inSection && strings.HasPrefix(line, "|"):
			c.rows++
			if c.rows > 2 { // below the title and the rule
				c.row(line)
			}
		}
	}
	c.line = 1
	if c.rows < 3 {
		c.wrong("there is no table of recipes", `put it into the section "Which recipes"`)
	}
	for column, names := range others {
		for _, name := range names {
			if c.rows >= 3 && !slices.Contains(c.named[column], name) {
				c.wrong("the table of recipes does not have "+name, "say in a row what there is for it")
			}
		}
	}
	return c.found
}

type recipesChecker struct {
	files      fs.FS
	line, rows int
	named      [][]string // by column
	found      []violation
}

func (c *recipesChecker) wrong(what, fix string) {
	c.found = append(c.found, violation{recipesPage, c.line, what, fix})
}

func (c *recipesChecker) row(line string) {
	cells := strings.Split(strings.Trim(line, "|"), "|")
	if len(cells) != cellsOfARow {
		c.wrong("a row of recipes has not five cells", "one for what it is for, one for each library, and one for here")
		return
	}
	for i, cell := range cells {
		cells[i] = strings.TrimSpace(cell)
		for _, name := range cellName.FindAllStringSubmatch(cell, -1) {
			c.named[i] = append(c.named[i], name[1])
		}
	}
	here := cells[columnHere]
	if !answer.MatchString(here) {
		c.wrong("a row of recipes has no answer", `begin its last cell with "yes: " or "no: ", or write "planned"`)
	}
	tests := 0
	for _, link := range cellLink.FindAllStringSubmatch(here, -1) {
		tests += c.link(strings.Trim(link[1], "`"), link[2])
	}
	if strings.HasPrefix(here, "yes") && tests == 0 {
		c.wrong("a yes has no test", "link to a Test or an Example that shows it, by its name")
	}
}

// link checks one link of an answer, and returns how many tests it names.
func (c *recipesChecker) link(text, target string) int {
	if strings.HasPrefix(target, "https://") {
		return 0
	}
	target = path.Join(path.Dir(recipesPage), target)
	if _, err := fs.Stat(c.files, target); err != nil {
		c.wrong(target+" does not exist", "link to what shows it")
		return 0
	}
	inTest, isTest := strings.HasSuffix(target, "_test.go"), testName.MatchString(text)
	if inTest != isTest {
		c.wrong(text+" and "+target+" do not fit", "link to a file of tests by the name of one of them, and to nothing else by such a name")
	}
	if !inTest || !isTest {
		return 0
	}
	code, err := fs.ReadFile(c.files, target)
	if err != nil || !strings.Contains(string(code), "\nfunc "+text+"(") {
		c.wrong(text+" is not in "+target, "link to where it is")
		return 0
	}
	return 1
}
