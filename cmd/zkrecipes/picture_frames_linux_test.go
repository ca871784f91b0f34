package main

import (
	"encoding/xml"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// A frame of the picture has a pane for each host, from top to bottom, and a bar below.
type frame struct {
	panes [3]string
	bar   string
}

// What the recorder draws: each row of a screen is a definition, which frames use.
type drawing struct {
	Screen struct {
		Rows []struct {
			ID   string   `xml:"id,attr"`
			Text []string `xml:"text"`
		} `xml:"defs>g"`
		View []struct {
			ID     string `xml:"id,attr"`
			Frames []struct {
				Uses []struct {
					Row string `xml:"href,attr"`
				} `xml:"use"`
			} `xml:"g"`
		} `xml:"g"`
	} `xml:"svg"`
}

func readPicture(t *testing.T) (frames []frame) {
	t.Helper()
	text, err := os.ReadFile(pictureFile)
	require.NoError(t, err)
	require.Less(t, len(text), 200_000)
	var d drawing
	require.NoError(t, xml.Unmarshal(text, &d))
	rows := map[string]string{}
	for _, row := range d.Screen.Rows {
		rows["#"+row.ID] = strings.Join(row.Text, "")
	}
	require.Len(t, d.Screen.View, 1)
	for _, screen := range d.Screen.View[0].Frames {
		var f frame
		pane := 0
		for _, use := range screen.Uses {
			row, ok := rows[use.Row]
			require.True(t, ok, use.Row)
			switch {
			case strings.HasPrefix(row, "──"):
				pane++
				require.Less(t, pane, len(f.panes))
			default:
				f.panes[pane] += row
				if strings.HasSuffix(row, " ") { // else the line goes on in the next row
					f.panes[pane] += "\n"
				}
			}
			f.bar = row
		}
		f.panes[pane] = strings.TrimSuffix(strings.TrimSuffix(f.panes[pane], "\n"), f.bar)
		f.bar = strings.TrimSpace(f.bar)
		frames = append(frames, f)
	}
	return frames
}

var (
	redrawnLine = regexp.MustCompile(`(?m)^.*\r([^\r\n]+)\r?$`)
	controls    = regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]|\r`)
	waitingLine = regexp.MustCompile(`(waiting \d+\w*, \d+ ahead, held by report) .*`)
	tableRow    = regexp.MustCompile(`(mutex\s+report\s+)\S+`)
	figures     = regexp.MustCompile(`(exit\s+code|signal)\s+\d+|(?:\d[\d.:]*(?:ms|µs|[smh])?)+`)
)

// wordsOf returns what a terminal shows in the end, without spaces, with 0 for all
// numbers and times except exit codes, and without what depends on the machine: names
// of hosts, and where they cut a line.
func wordsOf(text string) string {
	text = redrawnLine.ReplaceAllString(text, "$1")
	text = controls.ReplaceAllString(text, "")
	text = waitingLine.ReplaceAllString(text, "$1")
	text = tableRow.ReplaceAllString(text, "${1}host")
	text = figures.ReplaceAllStringFunc(text, func(number string) string {
		if unicode.IsLetter(rune(number[0])) {
			return number
		}
		return "0"
	})
	return strings.Join(strings.Fields(text), "")
}
