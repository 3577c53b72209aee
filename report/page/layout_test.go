package page

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// The reader's way through the page: the verdict first, the gravest warnings
// last before the facts.
func TestSectionsStandInTheReadersOrder(t *testing.T) {
	page := string(draw(t, night(t)))
	at := 0
	for _, id := range []string{
		"verdict", "charts", "figures", "differences", "sweep", "distributions", "timeline", "steps",
		"details", "notices", "facts",
	} {
		next := strings.Index(page, `<section id="`+id+`"`)
		if next < at {
			t.Errorf("section %s stands at %d, before the one that should precede it (%d)", id, next, at)
		}
		at = max(at, next)
	}
}

func TestANoticeSaysHowGraveItIsAndWhatToDo(t *testing.T) {
	page := string(draw(t, night(t)))
	for _, want := range []string{`<span class="badge disqualifies">disqualifies</span>`, "What to do: "} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// Expressions about what a reader sees.
const (
	firstChartTop = `document.querySelector("#charts .plot:not([hidden])") && ` +
		`Math.min(...[...document.querySelectorAll("#charts figure svg.chart")].filter(e => e.checkVisibility())` +
		`.map(e => e.getBoundingClientRect().top))`

	// smallText lists texts of the page that are drawn below 11 CSS pixels.
	smallText = `[...document.querySelectorAll("main *")].filter(e => e.checkVisibility() && ` +
		`[...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim())).map(e => {` +
		`const svg = e.closest("svg.chart");` +
		`const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;` +
		`return [parseFloat(getComputedStyle(e).fontSize) * scale, e.textContent.trim().slice(0, 30)];` +
		`}).filter(([size]) => size < 10.95).map(x => x.join(" ")).slice(0, 5).join("; ")`

	// wideParts lists what reaches over the right edge without a scroll bar of
	// its own.
	wideParts = `[...document.querySelectorAll("main *")].filter(e => e.checkVisibility() && !e.closest(".scroll, .plot, pre, nav") && ` +
		`e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)` +
		`.map(e => e.tagName + "." + e.className).slice(0, 5).join("; ")`

	// overlaps lists neighbours among the charts and sections that overlap
	// each other.
	overlaps = `(all => all.flatMap((a, i) => all.slice(i + 1).filter(b => !a.contains(b) && !b.contains(a) && ` +
		`a.getBoundingClientRect().bottom > b.getBoundingClientRect().top + 1 && a.getBoundingClientRect().top < b.getBoundingClientRect().bottom - 1 && ` +
		`a.getBoundingClientRect().right > b.getBoundingClientRect().left + 1 && a.getBoundingClientRect().left < b.getBoundingClientRect().right - 1)` +
		`.map(b => (a.id || a.tagName) + " over " + (b.id || b.tagName))))` +
		`([...document.querySelectorAll("main > section, main figure")].filter(e => e.checkVisibility())).slice(0, 5).join("; ")`
)

func TestPageFitsItsScreens(t *testing.T) {
	parent := browser(t)
	content := draw(t, night(t))
	for _, screen := range []struct {
		name          string
		width, height int
	}{{"desktop", 1440, 900}, {"tablet", 820, 1180}, {"phone", 390, 844}} {
		t.Run(screen.name, func(t *testing.T) {
			b := show(parent, t, content, chromedp.EmulateViewport(int64(screen.width), int64(screen.height)))
			b.want(`(`+firstChartTop+`) < `+b.eval("innerHeight"), "true")
			b.want(smallText, "")
			b.want(wideParts, "")
			b.want(overlaps, "")
			b.want(collisions, "")
			b.quiet()
			b.shot(screen.name)
		})
	}

	t.Run("dark", func(t *testing.T) {
		b := show(parent, t, content, scheme("dark"), chromedp.EmulateViewport(1440, 900))
		b.want(smallText, "")
		b.shot("dark")
	})
	t.Run("print", func(t *testing.T) {
		b := show(parent, t, content, told(emulation.SetEmulatedMedia,
			emulation.SetEmulatedMediaParams{Media: "print"}),
			chromedp.EmulateViewport(794, 1123))
		b.want(`getComputedStyle(document.querySelector(".top")).display`, "none")
		// Chromium leaves buttons out of the heads that it repeats on each page.
		b.want(`[...document.querySelectorAll("#figures thead th")].filter(h => h.checkVisibility()).every(h => `+
			`!h.querySelector("button").checkVisibility() && h.querySelector(".printed").checkVisibility())`, "true")
		b.want(collisions, "")
		b.want(overlaps, "")
		b.shot("print")
	})
}

func TestAMarkShowsItsValues(t *testing.T) {
	parent := browser(t)
	b := show(parent, t, draw(t, night(t)), chromedp.EmulateViewport(1440, 900))
	const mark = `document.querySelector("#charts .broad svg.chart a")`
	b.eval(mark + `.dispatchEvent(new MouseEvent("mouseover", {bubbles: true}))`)
	b.want(`document.querySelector(".tip").hidden`, "false")
	b.want(`document.querySelector(".tip").textContent === `+mark+`.querySelector("title").textContent`, "true")

	// The first tap shows the values, the second follows the link.
	b.eval(`document.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}))`)
	b.want(`document.querySelector(".tip").hidden`, "true")
	const tap = `((m) => { m.dispatchEvent(new PointerEvent("pointerdown", {bubbles: true, pointerType: "touch"}));` +
		`return m.dispatchEvent(new MouseEvent("click", {bubbles: true, cancelable: true})); })(` + mark + `)`
	b.want(tap, "false")
	b.want(`document.querySelector(".tip").hidden`, "false")
	b.want(tap, "true")
	b.quiet()
}
