package main

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zkrecipes/zkrecipes/framework"
)

const variablePrefix = "ZKRECIPES_"

// variableOf is the variable for a flag, in the environment and in a file.
func variableOf(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// A variable has a value that is not empty: an empty one counts as not set.
type variable struct{ name, value, as string } // as is how messages name it

// variables returns those that may be ours.
func (e environ) variables() (all []variable) {
	seen := map[string]bool{}
	for _, entry := range slices.Backward(e) { // the last one counts, as for get
		name, value, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, variablePrefix) && !seen[name] && value != "" {
			all = append(all, variable{name, value, name})
		}
		seen[name] = true
	}
	return all
}

// numberFor reports whether a variable is for a flag. That of a list can have a number
// at its end, also 0: a lock must not be missing because someone counts from there.
func (v variable) numberFor(flag string, list bool) (number int, ok bool) {
	rest, ok := strings.CutPrefix(v.name, variableOf(flag))
	if !ok || rest == "" {
		return 0, ok
	}
	digits, ok := strings.CutPrefix(rest, "_")
	number, err := strconv.Atoi(digits)
	return number, ok && list && err == nil && number >= 0
}

// takeFrom gives the setting the values that variables have for it, if it has none yet.
// Those of a list are in the order of their numbers.
func (s *setting) takeFrom(variables []variable, level int) {
	if s.level > nowhere || slices.Contains(commandLineOnly, s.name) {
		return
	}
	type numbered struct {
		number int
		given
	}
	var all []numbered
	for _, v := range variables {
		if number, ok := v.numberFor(s.name, s.list()); ok {
			all = append(all, numbered{number, given{v.value, v.as}})
		}
	}
	slices.SortStableFunc(all, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
	for _, v := range all {
		s.level, s.values = level, append(s.values, v.given)
	}
}

// registerConfig adds the flag for a file of variables, which parse reads.
func registerConfig(fs *flag.FlagSet) { fs.String("config", "", "") }

// readVariables gives the settings that the command line does not give the values of
// the environment or, for those that have none there, of the file of --config.
func (p *program) readVariables(fs *flag.FlagSet, all []*setting) error {
	variables := p.env.variables()
	for _, s := range all {
		s.takeFrom(variables, inEnvironment)
	}
	p.fromFile = nil
	if file := settingOf(fs, "config"); file != nil && file.level > nowhere {
		var err error
		if p.fromFile, err = readConfig(file.values[0]); err != nil {
			return err
		}
		for _, s := range all {
			s.takeFrom(p.fromFile, inFile)
		}
	}
	if fs.Lookup("auth-file") == nil {
		return nil
	}
	return p.readAuth(append(variables, p.fromFile...))
}

// readAuth keeps the credential of the first variable that has one.
func (p *program) readAuth(variables []variable) error {
	p.auth = nil
	i := slices.IndexFunc(variables, func(v variable) bool { return v.name == envAuth })
	if i < 0 {
		return nil
	}
	cred, ok := parseCredential(variables[i].value)
	if !ok {
		return fmt.Errorf("%s is not SCHEME:SECRET, such as digest:user:password (its value is not shown)", variables[i].as)
	}
	p.auth = []framework.Credential{cred}
	return nil
}

// settings calls do for the flags of all verbs that variables can give. One of several
// verbs can come more than once.
func settings(do func(*setting)) {
	for _, v := range verbs() {
		fs := v.flags()
		makeSettings(fs)
		fs.VisitAll(func(f *flag.Flag) {
			if !slices.Contains(commandLineOnly, f.Name) {
				do(f.Value.(*setting))
			}
		})
	}
}

// isFor reports whether a variable gives a flag of which pred holds.
func (v variable) isFor(pred func(flag string) bool) (found bool) {
	settings(func(s *setting) {
		_, ok := v.numberFor(s.name, s.list())
		found = found || ok && pred(s.name)
	})
	return found
}

// isForFile reports whether a file can set the variable. One file cannot name another.
func (v variable) isForFile() bool {
	return v.name == envAuth || v.isFor(func(flag string) bool { return flag != "config" })
}

// isForJob reports whether a variable says what one verb does, and not how ZooKeeper is
// reached.
func (v variable) isForJob() bool {
	reach := flag.NewFlagSet("", flag.ContinueOnError)
	new(connection).registerReach(reach)
	return v.isFor(func(flag string) bool { return reach.Lookup(flag) == nil })
}

// passedOn is the environment for a command, without what is said to this zkrecipes
// alone: a lock below would become a semaphore if it inherited ZKRECIPES_PERMITS. What
// says how ZooKeeper is reached stays, also by a file, if that says nothing else.
func (p *program) passedOn() environ {
	return slices.DeleteFunc(slices.Clone(p.env), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		switch {
		case !strings.HasPrefix(name, variablePrefix):
			return false
		case name == variableOf("config"):
			return settingOf(p.flags, "config").level != inEnvironment || slices.ContainsFunc(p.fromFile, variable.isForJob)
		}
		return variable{name: name}.isForJob()
	})
}
