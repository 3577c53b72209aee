package manual

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
)

func TestPage(t *testing.T) {
	root := &cobra.Command{Use: "tool", Short: "Do things"}
	root.PersistentFlags().Bool("plain", false, "write lines")
	sub := &cobra.Command{
		Use: `do THING`, Short: "Do a thing", Run: func(*cobra.Command, []string) {},
		Long:    "Does it.\n.hidden files too, C:\\ not.\n\n  kept\n  'so'\n\nThe end.",
		Example: "  tool do --times 2 x\n",
	}
	sub.Flags().IntP("times", "n", 1, "do it `N` times")
	sub.Flags().String("secret", "", "not shown")
	if err := sub.Flags().MarkHidden("secret"); err != nil {
		t.Fatal(err)
	}
	hidden := &cobra.Command{Use: "hidden", Hidden: true, Run: sub.Run}
	root.AddCommand(sub, hidden)

	folder := t.TempDir()
	if err := Write(root, Source{"tool 1.2", time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}, folder); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(folder + "/tool-hidden.1"); !os.IsNotExist(err) {
		t.Errorf("a page of a hidden command: %v", err)
	}

	const want = `.TH "TOOL-DO" "1" "Mar 2026" "tool 1.2" "User Commands"
.SH NAME
tool\-do \- Do a thing
.SH SYNOPSIS
.B tool do THING [flags]
.SH DESCRIPTION
Does it.
\&.hidden files too, C:\e not.
.PP
.nf
  kept
  'so'
.fi
.PP
The end.
.SH OPTIONS
.TP
\fB\-h\fP, \fB\-\-help\fP
help for do
.TP
\fB\-n\fP, \fB\-\-times\fP \fIN\fP
do it N times (default 1)
.SH OPTIONS OF ALL COMMANDS
.TP
\fB\-\-plain\fP
write lines
.SH EXAMPLE
.nf
  tool do \-\-times 2 x
.fi
.SH SEE ALSO
\fBtool\fP(1)
`
	got, err := os.ReadFile(folder + "/tool-do.1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}

	above, err := os.ReadFile(folder + "/tool.1")
	if err != nil || !strings.HasSuffix(string(above), ".SH SEE ALSO\n\\fBtool\\-do\\fP(1)\n") {
		t.Errorf("%v\n%s", err, above)
	}
}
