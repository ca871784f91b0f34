package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxConfig is more than a file of settings has.
const maxConfig = 1 << 20

// readConfig reads a file of NAME=value lines, the name of which was given. What it
// accepts means the same to systemd as an EnvironmentFile. Errors show no values: one
// may be a secret.
func readConfig(name given) ([]variable, error) {
	if name.text == "" { // perhaps an unset "$FILE"
		return nil, fmt.Errorf("%s is empty: give the name of a file, or leave it out", name.as)
	}
	text, info, err := readWithInfo(name.text)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", name.as, name.text, withoutName(err))
	}
	all, err := parseConfig(name.text, text)
	if slices.ContainsFunc(all, func(v variable) bool { return v.name == envAuth }) {
		if err := checkPrivate(name.text, info); err != nil { // more urgent than a mistake in a line
			return nil, fmt.Errorf("%s: %s: %w", name.as, name.text, err)
		}
	}
	return all, err
}

// readWithInfo reads a file, which may be a pipe, and asks who may read it.
func readWithInfo(name string) (text string, info os.FileInfo, err error) {
	file, err := os.Open(name)
	if err != nil {
		return "", nil, err
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil {
		return "", nil, err
	}
	all, err := io.ReadAll(io.LimitReader(file, maxConfig+1))
	if err == nil && len(all) > maxConfig {
		err = errors.New("too large for a file of settings")
	}
	return string(all), info, err
}

var isVariable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString

// parseConfig returns the variables of a file that have a value, with an error also
// those in front of it.
func parseConfig(file, text string) (all []variable, err error) {
	set := map[string]int{} // in which line
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		at := fmt.Sprintf("%s:%d", file, n)
		line = strings.Trim(line, " \t\r")
		isComment := line == "" || line[0] == '#' || line[0] == ';'
		switch {
		case strings.Contains(line, "\r"): // to systemd another line begins there
			return all, fmt.Errorf("%s: a carriage return within the line", at)
		case isComment && strings.HasSuffix(line, `\`): // releases of systemd differ
			return all, fmt.Errorf("%s: a backslash at the end of a comment", at)
		case isComment:
			continue
		}
		name, value, hasValue := strings.Cut(line, "=")
		name = strings.TrimRight(name, " \t")
		switch {
		case !hasValue || !isVariable(name): // it is not shown, as it may be a secret
			return all, fmt.Errorf("%s: not NAME=value", at)
		case !variable{name: name}.isForFile():
			return all, fmt.Errorf("%s: %s cannot be set in a file", at, name)
		case set[name] > 0:
			return all, fmt.Errorf("%s: %s is set in line %d already", at, name, set[name])
		}
		set[name] = n
		value, err := unquote(strings.TrimLeft(value, " \t"))
		if err != nil {
			return all, fmt.Errorf("%s: %s: %w", at, name, err)
		}
		if value != "" {
			all = append(all, variable{name, value, at + ": " + name})
		}
	}
	return all, nil
}

// unquote removes the quotes around a value. What systemd would read in another way
// than as it stands there is refused.
func unquote(value string) (string, error) {
	if value == "" || value[0] != '"' && value[0] != '\'' {
		return checkValue(value, false)
	}
	inner := value[1:]
	if end := strings.IndexByte(inner, value[0]); end < 0 || end != len(inner)-1 {
		return "", errors.New("the quote that begins the value must end with it, on the same line")
	}
	return checkValue(inner[:len(inner)-1], value[0] == '\'')
}

func checkValue(value string, literal bool) (string, error) {
	switch {
	case strings.ContainsRune(value, 0) || !utf8.ValidString(value):
		return "", errors.New("the value is not text in UTF-8")
	case !literal && strings.Contains(value, `\`):
		return "", errors.New("a backslash is allowed between single quotes only")
	}
	return value, nil
}
