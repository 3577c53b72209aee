package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/benchrig/bench/internal/offer"
	"github.com/benchrig/bench/internal/secrets"
	"github.com/benchrig/bench/internal/userfile"
	"github.com/benchrig/bench/report"
	"github.com/benchrig/bench/report/detail"
	"github.com/benchrig/bench/report/export"
	"github.com/benchrig/bench/report/page"
	"github.com/benchrig/bench/report/table"
	"github.com/benchrig/bench/results"
	"github.com/benchrig/bench/results/store"
)

const reportLong = `Print the report of a run, finished or not. It is made from the files of the
results folder alone, so the same folder gives the same report on any machine.`

type reportOptions struct {
	step   string
	tables []string
	prices []string
	format string // "terminal" and "text" are the same
	html   string // file to write the page to; "": none
	asJSON bool
	brief  bool // only the verdict, a narrow table, and a line for each failure and warning
	write  bool // write report.md, report.html, summary.csv and the result blocks
}

func newReportCommand(e env) *cobra.Command {
	o := reportOptions{format: "terminal"}
	cmd := &cobra.Command{
		Use: "report DIR", Short: "Print the report of a results folder", Long: reportLong +
			"\n\nTables for --table:\n" + strings.TrimRight(report.TableHelp(), "\n"),
		Example: "  bench report results\n" +
			"  bench report DIR --brief --format markdown\n" +
			"  bench report DIR --html night.html\n" +
			"  bench report DIR --step tp4_c16_r1\n" +
			"  bench report DIR --table repeats,differences --format markdown",
		ValidArgsFunction: runFolders,
		Args:              args(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, given []string) error {
			dir, err := runFolder(e, given[0])
			if err != nil {
				return err
			}
			return printReport(e, dir, o)
		},
	}

	cmd.Flags().StringVar(&o.step, "step", "", "show one `step`: result block, warnings, failure, end of the log")
	cmd.Flags().StringSliceVar(&o.tables, "table", nil,
		"print only these tables: "+strings.Join(report.TableNames(), ", "))
	addChoice(cmd, &o.format, "format", "", "terminal", "text", "markdown", "csv", "html")
	cmd.Flags().StringVar(&o.html, "html", "",
		"write the report to this `file` as one HTML page that needs no network, and print nothing")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print the run as JSON: manifest, steps with their results, problems")
	cmd.Flags().BoolVar(&o.brief, "brief", false,
		"print only the verdict, a narrow table, and one line per failure and warning")
	complete(cmd, "step", offer.Steps)
	completeValues(cmd, "table", report.TableNames()...)
	addPriceFlag(cmd, &o.prices)
	cmd.Flags().BoolVar(&o.write, "write", false,
		"also write report.md, report.html, summary.csv, differences.csv and the result blocks to the folder")
	return cmd
}

func printReport(e env, dir string, o reportOptions) error {
	run, err := store.Read(dir)
	if err != nil {
		return err
	}
	if err := applyPrices(o.prices, run); err != nil {
		return usageError(err)
	}
	if o.write {
		err = page.WriteFiles(run) // the table is printed even if nothing can be written
	}
	return errors.Join(err, printForm(e, run, o))
}

// printForm prints a run that was read as asked for.
func printForm(e env, run *results.Run, o reportOptions) error {
	if o.html != "" {
		return writePage(o, run)
	}

	form := table.ForTerminal
	if o.format == "markdown" {
		form = table.ForMarkdown
	}
	opts := e.tables()
	switch {
	case o.tables != nil && o.format == "csv":
		return usageError(errors.New("--table: tables have no csv form; summary.csv and differences.csv hold their " +
			"figures"))
	case o.format == "html" && o.tables != nil:
		return usageError(errors.New("--table: the page holds all tables; leave it out"))
	case o.asJSON:
		return printJSON(e, export.JSON(run))
	case o.format == "html":
		return drawPage(e.stdout, o, run)
	case o.step != "":
		return detail.Step(e.stdout, run, o.step)
	case o.tables != nil:
		if err := report.Tables(e.stdout, run, o.tables, form, opts); err != nil {
			return usageError(err)
		}
		return nil
	case o.format == "csv":
		return export.CSV(e.stdout, run)
	case o.brief:
		return report.Brief(e.stdout, run, form, opts)
	case form == table.ForMarkdown:
		return report.Markdown(e.stdout, run)
	}

	return report.Write(e.stdout, run, opts)
}

// runFolder is the folder of a run, or the newest run in a folder above runs,
// which is said.
func runFolder(e env, dir string) (string, error) {
	newest, err := store.Newest(dir)
	if err != nil {
		return "", err
	}
	if newest != dir {
		fmt.Fprintf(e.Stderr, "run: %s\n", newest)
	}
	return newest, nil
}

// openRun opens a run folder, or the newest run below a folder.
func openRun(e env, dir string) (*store.Folder, error) {
	newest, err := runFolder(e, dir)
	if err != nil {
		return nil, err
	}
	return store.Open(newest)
}

// writePage writes the page of a run, or of one of its steps, to a file.
func writePage(o reportOptions, run *results.Run) error {
	var out bytes.Buffer
	if err := drawPage(&out, o, run); err != nil {
		return err
	}
	return userfile.Write(o.html, func(w io.Writer) error {
		_, err := io.WriteString(w, secrets.Known().Text(out.String()))
		return err
	})
}

func drawPage(w io.Writer, o reportOptions, run *results.Run) error {
	if o.step != "" {
		return page.WriteStep(w, run, o.step)
	}
	return page.Write(w, run)
}
