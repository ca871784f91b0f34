package main

import (
	"errors"
	"flag"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The levels on which a flag can be given. The greater one wins.
const (
	nowhere = iota
	inFile
	inEnvironment
	onCommandLine
)

// A setting is the value of a flag, with where it was given.
type setting struct {
	flag.Value
	name    string
	level   int
	values  []given // as text; several for a list only
	applied int     // how many of them Value has
	dropped bool    // values were, because a stronger level excludes them
}

// given is the text of a value, and how a message names what it was given to: "--try",
// "ZKRECIPES_TRY" or "zk.conf:3: ZKRECIPES_TRY".
type given struct{ text, as string }

// makeSettings makes the value of every flag a setting. It can be called again.
func makeSettings(fs *flag.FlagSet) {
	fs.VisitAll(func(f *flag.Flag) {
		if _, ok := f.Value.(*setting); !ok {
			f.Value = &setting{Value: f.Value, name: f.Name}
		}
	})
}

// settingOf returns the setting of a flag, nil if there is no such flag.
func settingOf(fs *flag.FlagSet, name string) *setting {
	if f := fs.Lookup(name); f != nil {
		return f.Value.(*setting)
	}
	return nil
}

// IsBoolFlag reports whether the flag can stand without a value.
func (s *setting) IsBoolFlag() bool {
	b, ok := s.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// list reports whether the flag may be given more than once.
func (s *setting) list() bool {
	_, ok := s.Value.(*pathList)
	return ok
}

// isOn reports whether the flag is given, and not just switched off.
func (s *setting) isOn() bool {
	if s == nil || s.level == nowhere {
		return false
	}
	on, err := strconv.ParseBool(s.values[0].text)
	return !s.IsBoolFlag() || on || err != nil
}

// apply sets the flag. Package flag's errors are texts only, so ours come from here.
func (s *setting) apply() error {
	for _, v := range s.values[s.applied:] {
		s.applied++
		err := s.Set(v.text)
		if err != nil && s.IsBoolFlag() {
			err = errNotBool
		}
		if err != nil {
			return fmt.Errorf("%s %q: %w", v.as, v.text, err)
		}
	}
	return nil
}

// isIn reports whether a text is about the setting.
func (s *setting) isIn(text string) bool {
	aboutPath := slices.Contains([]string{"lock", "once", "path"}, s.name) && slices.ContainsFunc(s.values, func(v given) bool {
		return strings.Contains(text, v.text)
	})
	return aboutPath || names(text, "--"+s.name)
}

// drop makes the flag one that is not given.
func (s *setting) drop() { s.level, s.values, s.dropped = nowhere, nil, true }

// commandLineOnly are the flags that neither the environment nor a file can give: what
// is run, and whose lock is taken away, stands where that is started.
var commandLineOnly = []string{"command", "force", "node"}

// exclusive are groups of flags of which one excludes the others. Two of the same level
// are a mistake, which a verb finds; one of a stronger level makes zkrecipes ignore the
// others: so the command line can have --try although the environment has a timeout.
var exclusive = [][]string{
	{"lock", "once"},
	{"try", "timeout"},
	{"shared", "write", "permits", "stripes", "once"},
	{"exclusive", "shared"},
	{"exclusive", "permits"},
	{"exclusive", "stripes"},
	{"key", "tick"},
	{"once", "min-hold"},
	{"node", "all", "successor"},
	{"json", "output"},
}

// needs are flags that make no sense without one of others. They are ignored with it.
var needs = map[string][]string{
	"key":       {"stripes", "once"},
	"tick":      {"once"},
	"retention": {"once"},
}

// applySettings sets all flags that the command line, the environment or the file of
// --config gives.
func (p *program) applySettings(fs *flag.FlagSet) error {
	var all []*setting
	fs.VisitAll(func(f *flag.Flag) { all = append(all, f.Value.(*setting)) })
	if err := p.readVariables(fs, all); err != nil {
		return err
	}
	for level := inEnvironment; level > nowhere; level-- {
		for _, s := range all {
			if s.level == level && slices.ContainsFunc(all, s.isExcludedBy) {
				s.drop()
			}
		}
	}
	for _, s := range all {
		if s.level > nowhere && s.level < onCommandLine && s.lostItsNeed(fs) {
			s.drop()
		}
	}
	for _, s := range all {
		if err := s.apply(); err != nil {
			return err
		}
	}
	return nil
}

// isExcludedBy reports whether another flag makes zkrecipes ignore this one.
func (s *setting) isExcludedBy(other *setting) bool {
	return other.level > s.level && other.isOn() && slices.ContainsFunc(exclusive, func(group []string) bool {
		return slices.Contains(group, s.name) && slices.Contains(group, other.name) && s.name != other.name
	})
}

// lostItsNeed reports whether a flag that this one needs was dropped, and no other is
// given that would do.
func (s *setting) lostItsNeed(fs *flag.FlagSet) bool {
	lost := false
	for _, name := range needs[s.name] {
		other := settingOf(fs, name)
		if other.isOn() {
			return false
		}
		lost = lost || other != nil && other.dropped
	}
	return lost
}

// reportKind says that variables let several hold a lock at a time that the command
// line names: who reads only that line takes it for an exclusive one.
func (j *job) reportKind() {
	if j.flags == nil || j.json { // the event "acquired" has the kind
		return
	}
	if paths := settingOf(j.flags, "lock"); paths == nil || paths.level < onCommandLine {
		return
	}
	for _, name := range []string{"shared", "permits", "stripes"} {
		if s := settingOf(j.flags, name); s.isOn() && s.level < onCommandLine {
			j.report.info(event{}, "not an exclusive lock: --%s is from %s, and would be ignored with --exclusive", name, s.values[0].as)
		}
	}
}

// longFlag finds one in a message.
var longFlag = regexp.MustCompile(`--[a-z]+(?:-[a-z]+)*`)

// asWritten names flags as the command line does, which may have "-n" for "--try".
func (p *program) asWritten(text string) string {
	return longFlag.ReplaceAllStringFunc(text, func(name string) string {
		s := settingOf(p.flags, name[2:])
		if s == nil || s.level != onCommandLine || slices.ContainsFunc(s.values, func(v given) bool { return v.as == name }) {
			return name
		}
		return s.values[0].as
	})
}

// withOrigins is errorText. If it is a usage error, it names flags as they were given,
// and adds where those flags come from that it is about and that are not on the command
// line.
func (p *program) withOrigins(err error) string {
	text := errorText(err)
	if usage := (*usageError)(nil); p.flags == nil || !errors.As(err, &usage) {
		return text
	}
	var origins []string
	p.flags.VisitAll(func(f *flag.Flag) {
		s, ok := f.Value.(*setting)
		if ok && s.level > nowhere && s.level < onCommandLine && s.isIn(text) {
			origins = append(origins, fmt.Sprintf("--%s is from %s", s.name, s.values[0].as))
		}
	})
	text = p.asWritten(text)
	if len(origins) == 0 {
		return text
	}
	return text + " (" + strings.Join(origins, ", ") + ")"
}

// names reports whether a text has a word, and not only a longer one that begins so.
func names(text, word string) bool {
	for {
		_, rest, found := strings.Cut(text, word)
		if !found {
			return false
		}
		if rest == "" || rest[0] != '-' && (rest[0] < 'a' || rest[0] > 'z') {
			return true
		}
		text = rest
	}
}
