package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/benchrig/bench/results"
)

// crowd is a run of many variants with long names over several load points.
func crowd(variants int, points ...int) *results.Run {
	var steps []*results.Result
	for _, c := range points {
		for i := range variants {
			name := fmt.Sprintf("llama-3.1-70b-instruct-fp8-tp%d-pp4-max-num-seqs-%d-chunked-prefill", i%8, 16*i)
			for repeat := 1; repeat <= 2; repeat++ {
				speed := float64(100*c+7*i*c) / (1 + float64(c)/64)
				r := measured(name, repeat, speed+float64(repeat))
				r.Step.ID = fmt.Sprintf("%s_c%d_r%d", name, c, repeat)
				r.Step.Point = fmt.Sprintf("c%d", c)
				r.Asked = results.Asked{
					API: "chat", MaxConcurrency: &c,
					GoodputGoalsS: map[string]float64{"ttft": 0.09, "tpot": 0.05},
				}
				r.Figures.TPOT.Median = new(float64(c+i) / speed)
				steps = append(steps, r)
			}
		}
	}
	return alone(steps...)
}

// allSuspect is a run without a valid step.
func allSuspect() *results.Run {
	run := crowd(3, 1, 8, 64)
	for _, s := range run.Steps {
		s.Result.Verdict = results.Suspect
		s.Result.Warnings = append(s.Result.Warnings, results.Warning{
			Code: results.WarnClientLate, Message: "requests were sent up to 50.0 ms later than intended",
		})
	}
	return run
}

// unbroken has names without a place to break a line at.
func unbroken() *results.Run {
	var steps []*results.Result
	for repeat := 1; repeat <= 3; repeat++ {
		for i, name := range []string{strings.Repeat("x", 100), strings.Repeat("y", 99) + "1"} {
			steps = append(steps, measured(name, repeat, float64(100+20*i+repeat)))
		}
	}
	steps[1].Verdict = results.Failed
	steps[1].Failure = &results.Failure{Class: results.FailExited, Message: strings.Repeat("z", 300)}
	return alone(steps...)
}

func onePoint() *results.Run { return alone(measured("only", 1, 100)) }

// Marks of suspect steps are hollow in all charts that compare variants, and no
// mark is full.
func TestMarksOfSuspectStepsAreHollow(t *testing.T) {
	run := doubtfulNight(t)
	o, err := overviewOf(run, readPasses(run, budgetFor(len(run.Steps))), linksOf(run))
	if err != nil {
		t.Fatal(err)
	}
	figures := append(o.Answers, o.Sweep...)
	for _, group := range o.CDFs {
		figures = append(figures, group.Charts...)
	}
	if len(figures) < 6 || len(o.CDFs) == 0 {
		t.Fatalf("%d charts, %d load points with distributions", len(figures), len(o.CDFs))
	}
	for _, f := range figures {
		full := strings.Count(string(f.SVG), `class="f c1"`) + strings.Count(string(f.SVG), `class="f c2"`)
		if hollow := strings.Count(string(f.SVG), ` o"`); full > 0 || hollow == 0 {
			t.Errorf("%s: %d full marks, %d hollow ones", f.Caption, full, hollow)
		}
	}
}

// doubtfulNight is a night whose every measured step is suspect.
func doubtfulNight(t *testing.T) *results.Run {
	run := night(t)
	for _, s := range run.Steps {
		if s.Result.Verdict == results.OK {
			s.Result.Verdict = results.Suspect
		}
	}
	return run
}

// collisions lists texts of one chart that overlap. Letters are
// lower than their boxes, so a third of the height may be shared.
const collisions = `[...document.querySelectorAll("svg.chart")].filter(e => e.checkVisibility()).flatMap(svg => {` +
	`const all = [...svg.querySelectorAll("text")].map(e => [e.textContent, e.getBoundingClientRect()]);` +
	`return all.flatMap(([a, r], i) => all.slice(i + 1).filter(([b, s]) => ` +
	`Math.min(r.right, s.right) - Math.max(r.left, s.left) > 1 && ` +
	`Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top) > Math.min(r.height, s.height) / 3)` +
	`.map(([b]) => svg.id + ": " + a + " over " + b)); }).slice(0, 5).join("; ")`

func TestHostileRunsFitTheirScreens(t *testing.T) {
	parent := browser(t)
	for name, run := range map[string]*results.Run{
		"crowd": crowd(40, 1, 8, 64, 256), "crowded-point": crowd(40, 8), "one-point": onePoint(),
		"all-suspect": allSuspect(), "no-data": alone(), "attack": hostile(), "unbroken": unbroken(),
	} {
		t.Run(name, func(t *testing.T) {
			b := show(parent, t, draw(t, run), chromedp.EmulateViewport(1440, 900))
			for _, screen := range []struct {
				name          string
				width, height int64
			}{{"desktop", 1440, 900}, {"phone", 390, 844}} {
				b.do(chromedp.EmulateViewport(screen.width, screen.height))
				if strings.Contains(b.eval(`document.getElementById("charts") !== null`), "true") {
					b.want(`(`+firstChartTop+`) < `+b.eval("innerHeight"), "true")
				}
				b.want(smallText, "")
				b.want(wideParts, "")
				b.want(overlaps, "")
				b.want(collisions, "")
				b.shotTop(name+"-"+screen.name, screen.width)
			}
			b.quiet()
		})
	}
}
