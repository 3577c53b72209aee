package page

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var shots = flag.String("shots", "", "leave screenshots in this folder")

// browser is a headless Chromium, or a reason to skip the test.
func browser(t *testing.T) context.Context {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		t.Skip("no Chromium here; install the package chromium to try the page in a browser")
	}
	ctx, cancel := chromedp.NewContext(t.Context(), chromedp.WithAllocatorOptions(
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-dev-shm-usage", true),
	))
	t.Cleanup(func() { _ = chromedp.Cancel(ctx); cancel() })
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("start Chromium: %v", err)
	}
	return ctx
}

// tab is a page in the browser, with what it complained of and asked for.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex // guards what follows
	complaints []string
	requests   []string
}

// show opens a page from a file, as a reader would.
func show(parent context.Context, t *testing.T, content []byte, before ...chromedp.Action[chromedp.Void]) *tab {
	t.Helper()
	path := filepath.Join(t.TempDir(), Name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(parent)
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, 5*time.Minute)
	t.Cleanup(stop)
	b := &tab{t: t, ctx: ctx}
	b.do() // opens it
	if err := chromedp.Listen(ctx, b.listen); err != nil {
		t.Fatal(err)
	}
	b.do(told(log.Enable, cdp.Empty{}), told(network.Enable, network.EnableParams{}),
		chromedp.EmulateViewport(1280, 900))
	b.do(append(before, chromedp.Navigate("file://"+path))...)
	return b
}

// told is a command of the protocol as a step.
func told[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, command, params)
		return err
	})
}

// scheme is what the reader's system asks for.
func scheme(name string) chromedp.Action[chromedp.Void] {
	return told(emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{
			Name:  "prefers-color-scheme",
			Value: name,
		}}})
}

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Text)
	case *runtime.EventConsoleAPICalled:
		b.complaints = append(b.complaints, fmt.Sprintf("console %s", e.Type))
	case *log.EventEntryAdded:
		b.complaints = append(b.complaints, e.Entry.Text)
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

// quiet fails where the page complained, or asked for anything but itself.
func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.complaints) > 0 {
		b.t.Errorf("the page complains: %q", b.complaints)
	}
	for _, url := range b.requests {
		if !strings.HasPrefix(url, "file://") || !strings.Contains(url, "/"+Name) {
			b.t.Errorf("the page asks for %s", url)
		}
	}
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// eval is the text that an expression makes in the page.
func (b *tab) eval(expression string) string {
	b.t.Helper()
	text, err := chromedp.Run(b.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	if err != nil {
		b.t.Fatal(err)
	}
	return text
}

func (b *tab) want(expression, want string) {
	b.t.Helper()
	if got := b.eval(expression); got != want {
		b.t.Errorf("%s = %q, want %q", expression, got, want)
	}
}

// shot leaves a picture of the page, or of one part of it, where -shots asks
// for them.
func (b *tab) shot(name string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// shotTop leaves a picture of the first screens of a page that may be too long
// for one picture.
func (b *tab) shotTop(name string, width int64) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	const height = 3600
	b.do(chromedp.EmulateViewport(width, height))
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// shotParts leaves a picture of each section.
func (b *tab) shotParts(name string) {
	b.t.Helper()
	if *shots == "" {
		return
	}
	for id := range strings.FieldsSeq(b.eval(
		`[...document.querySelectorAll("main > section[id]")].map(s => s.id).join(" ")`)) {
		picture, err := chromedp.Run(b.ctx, chromedp.Screenshot(chromedp.CSS("#"+id)))
		if err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(*shots, name+"-"+id+".png"), picture, 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
}

const shownRows = `[...document.querySelectorAll("#steps-table tbody tr")].filter(r => !r.hidden).map(r => r.cells[0].textContent).join(" ")`

func TestBrowser(t *testing.T) {
	parent := browser(t)
	content := draw(t, night(t))
	t.Run("sorts by mouse and keyboard", func(t *testing.T) {
		b := show(parent, t, content)
		head := `#steps-table thead th:nth-child(8)` // output tok/s
		values := `[...document.querySelectorAll("#steps-table tbody tr")].map(r => r.cells[7].textContent.trim())`
		sorted := func(way string) string {
			return `(v => { const n = v.filter(x => x !== "-").map(Number); return n.length > 5 && n.every((x, i) => !i || n[i-1] ` + way + ` x) && v.slice(n.length).every(x => x === "-"); })(` + values + `)`
		}
		b.do(chromedp.Click(chromedp.CSS(head + " button")))
		b.want(`document.querySelector("`+head+`").ariaSort`, "ascending")
		b.want(sorted("<="), "true")
		b.do(chromedp.Focus(chromedp.CSS(head+" button")), chromedp.KeyEvent(kb.Enter))
		b.want(`document.querySelector("`+head+`").ariaSort`, "descending")
		b.want(sorted(">="), "true")
		b.do(chromedp.Focus(chromedp.CSS(`#steps-table thead th:nth-child(1) button`)), chromedp.KeyEvent(" "))
		b.want(`document.querySelector("`+head+`").ariaSort`, "none")
		b.want(shownRows+`.split(" ")[0]`, "variant-01_c1_r1")
		b.want(`document.getElementById("said").textContent`, "Sorted by step, ascending")
		b.quiet()
	})
	t.Run("filters", func(t *testing.T) {
		b := show(parent, t, content)
		b.want(`document.getElementById("shown").textContent`, "12 steps")
		b.do(chromedp.SendKeys(chromedp.CSS("#find"), "C2 variant-02"))
		b.want(shownRows, "variant-02_c2_r1 variant-02_c2_r2 variant-02_c2_r3")
		b.want(`document.getElementById("shown").textContent`, "3 of 12 steps")
		b.do(chromedp.SetValue(chromedp.CSS("#verdict-is"), "failed"),
			chromedp.Evaluate[chromedp.Void](
				`document.getElementById("verdict-is").dispatchEvent(new Event("input", {bubbles: true}))`))
		b.want(shownRows, "variant-02_c2_r2")
		b.do(chromedp.Click(chromedp.CSS(".filter button[type=reset]")),
			chromedp.Poll[chromedp.Void](`document.getElementById("shown").textContent === "12 steps"`))
		b.do(chromedp.SetValue(chromedp.CSS("#variant"), "variant-01"),
			chromedp.Evaluate[chromedp.Void](
				`document.getElementById("variant").dispatchEvent(new Event("input", {bubbles: true}))`))
		b.want(`document.getElementById("shown").textContent`, "6 of 12 steps")
		b.quiet()
	})
	t.Run("a point of a chart opens its step", func(t *testing.T) {
		b := show(parent, t, content)
		link := `document.querySelector("#tradeoff a[href]")`
		b.want(`document.querySelectorAll("details.step[open]").length`, "0")
		b.do(chromedp.Evaluate[chromedp.Void](link+
			`.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true}))`),
			chromedp.Poll[chromedp.Void](`document.querySelectorAll("details.step[open]").length === 1`))
		b.want(`"#" + document.querySelector("details.step[open]").id === `+link+`.getAttribute("href")`, "true")
		b.want(`document.activeElement.matches("details.step[open] > summary")`, "true")
		b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("#steps-table tbody a").focus()`),
			chromedp.KeyEvent(kb.Enter),
			chromedp.Poll[chromedp.Void](
				`document.querySelectorAll("details.step[open]").length === 2 || location.hash === document.querySelector("#steps-table tbody a").hash`))
		b.quiet()
	})
	t.Run("charts show the chosen variants", func(t *testing.T) {
		b := show(parent, t, content)
		off := `document.querySelectorAll("#sweep .off").length > 0 && document.querySelectorAll("#sweep [data-variant='variant-02']:not(.off)").length > 0`
		b.want(off, "false")
		b.do(chromedp.Click(chromedp.CSS(".pick label:first-of-type input")))
		b.want(off, "true")
		b.want(`[...document.querySelectorAll(".point")].filter(p => !p.hidden).map(p => p.dataset.point).join()`, "c2")
		b.quiet()
	})
	t.Run("dark, light and print", func(t *testing.T) { inDarkAndPrint(parent, t, content) })
	t.Run("copies a command", func(t *testing.T) {
		b := show(parent, t, content)
		b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("details.step").open = true`),
			chromedp.Click(chromedp.CSS("details.step .copy button")),
			chromedp.Poll[chromedp.Void](`document.querySelector("details.step .copy button").textContent !== "Copy"`))
		b.quiet()
	})
	t.Run("small screen", func(t *testing.T) {
		b := show(parent, t, content, chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
		b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("details.step").open = true`))
		b.want(`document.documentElement.scrollWidth <= innerWidth`, "true")
		b.shot("narrow")
		b.quiet()
	})
	t.Run("without script", func(t *testing.T) {
		b := show(parent, t, content, told(emulation.SetScriptExecutionDisabled,
			emulation.SetScriptExecutionDisabledParams{Value: true}))
		text, err := chromedp.Run(b.ctx, chromedp.Text(chromedp.CSS("body")))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"variant-02 wins", "out-of-memory", "All steps", "Timeline", "variant-01_c1_r1"} {
			if !strings.Contains(text, want) {
				t.Errorf("without script the page does not show %q", want)
			}
		}
		b.shot("no-script")
		b.quiet()
	})
	for name, run := range fixtures(t) {
		t.Run("opens "+name, func(t *testing.T) {
			b := show(parent, t, draw(t, run))
			b.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach(d => d.open = true)`))
			b.shot("all-" + name)
			b.want("document.querySelectorAll('script').length", "1")
			b.want("document.documentElement.scrollWidth <= innerWidth", "true")
			b.quiet()
		})
	}
}

func inDarkAndPrint(parent context.Context, t *testing.T, content []byte) {
	b := show(parent, t, content, scheme("light"))
	background := `getComputedStyle(document.documentElement).backgroundColor`
	b.shot("light")
	b.shotParts("light")
	light := b.eval(background)
	b.do(chromedp.Click(chromedp.CSS("#theme")))
	dark := b.eval(background)
	if light == dark {
		t.Errorf("the theme's button leaves the background at %s", light)
	}
	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("details.step").open = true`))
	b.shot("dark")
	b.shotParts("dark")
	b.do(chromedp.Click(chromedp.CSS("#theme")))
	b.want(background, light)
	b.do(chromedp.Evaluate[chromedp.Void](`localStorage.clear(); delete document.documentElement.dataset.theme`),
		scheme("dark"))
	b.want(background, dark)
	b.do(told(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media:    "print",
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}},
	}))
	b.want(background, light) // paper is white
	pdf, err := chromedp.Run(b.ctx, chromedp.PrintToPDF(chromedp.PDFPrintBackground()))
	if err != nil {
		t.Fatal(err)
	}
	if len(pdf) < 10_000 || string(pdf[:5]) != "%PDF-" {
		t.Errorf("printing gives %d bytes that begin with %.5q", len(pdf), pdf)
	}
	if *shots != "" {
		if err := os.WriteFile(filepath.Join(*shots, "print.pdf"), pdf, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.quiet()
}

// A page of 500 steps opens and sorts while the reader waits.
func TestBrowserManySteps(t *testing.T) {
	parent := browser(t)
	one := night(t)
	run := *one
	run.Steps = nil
	for i := range 500 {
		s := one.Steps[i%len(one.Steps)]
		r := *s.Result
		r.Step.ID = fmt.Sprintf("%s_%d", r.Step.ID, i)
		s.Result = &r
		run.Steps = append(run.Steps, s)
	}
	began := time.Now()
	b := show(parent, t, draw(t, &run))
	t.Logf("drawn and opened in %v", time.Since(began))
	b.want(`document.querySelectorAll("#steps-table tbody tr").length`, "500")
	sort := b.eval(
		`(() => { const t = performance.now(); document.querySelector("#steps-table thead th:nth-child(8) button").click(); document.body.offsetHeight; return performance.now() - t; })()`)
	find := b.eval(
		`(() => { const t = performance.now(); const f = document.getElementById("find"); f.value = "_499"; f.dispatchEvent(new Event("input", {bubbles: true})); document.body.offsetHeight; return performance.now() - t; })()`)
	b.want(`document.getElementById("shown").textContent`, "1 of 500 steps")
	t.Logf("sorted in %s ms, filtered in %s ms", sort, find) // tens of ms on an idle machine
	b.quiet()
}
