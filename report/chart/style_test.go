package chart_test

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/benchrig/bench/report/chart"
)

// theme is the colours of one block of chart.Colors.
type theme map[string]string

// themes reads light and dark as the page's browser would.
func themes(t *testing.T) map[string]theme {
	t.Helper()
	blocks := regexp.MustCompile(`\{(--[^{}]*)\}`).FindAllStringSubmatch(string(chart.Colors), -1)
	if len(blocks) != 4 {
		t.Fatalf("%d blocks of colours, want light, dark by system, dark by choice, print", len(blocks))
	}
	out := map[string]theme{}
	for i, name := range []string{"light", "dark by system", "dark", "print"} {
		out[name] = theme{}
		for _, m := range regexp.MustCompile(`--(\w+):#([0-9a-f]{6})`).FindAllStringSubmatch(blocks[i][1], -1) {
			out[name][m[1]] = m[2]
		}
	}
	return out
}

// linear are the colour's parts as amounts of light, 0 to 1.
func linear(hex string) [3]float64 {
	var out [3]float64
	for i := range out {
		n, _ := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		v := float64(n) / 255
		if v <= 0.04045 {
			out[i] = v / 12.92
			continue
		}
		out[i] = math.Pow((v+0.055)/1.055, 2.4)
	}
	return out
}

func luminance(c [3]float64) float64 { return 0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2] }

// contrast is that of WCAG 2.
func contrast(a, b string) float64 {
	la, lb := luminance(linear(a)), luminance(linear(b))
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// Text reaches 4.5:1, signs and lines 3:1, as WCAG asks; text on a full span
// is in the background's colour.
func TestContrast(t *testing.T) {
	if got := contrast("000000", "ffffff"); math.Abs(got-21) > 1e-9 {
		t.Fatalf("contrast(black, white) = %g, want 21", got)
	}
	for name, colours := range themes(t) {
		for colour, least := range map[string]float64{
			"fg": 7, "muted": 4.5, "axis": 3, "ok": 4.5, "warn": 3, "bad": 4.5,
			"c1": 3, "c2": 3, "c3": 3, "c4": 3, "c5": 3, "c6": 3, "c7": 3, "c8": 3,
		} {
			if got := contrast(colours[colour], colours["bg"]); got < least {
				t.Errorf("%s: --%s has contrast %.2f, want at least %g", name, colour, got, least)
			}
		}
	}
}

// sight is how light reaches the eye in full: normal vision and the three
// kinds of dichromacy as Machado, Oliveira and Fernandes model them (2009).
func sight() map[string][3][3]float64 {
	return map[string][3][3]float64{
		"normal": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
		"protanopia": {
			{0.152286, 1.052583, -0.204868},
			{0.114503, 0.786281, 0.099216},
			{-0.003882, -0.048116, 1.051998},
		},
		"deuteranopia": {
			{0.367322, 0.860646, -0.227968},
			{0.280085, 0.672501, 0.047413},
			{-0.011820, 0.042940, 0.968881},
		},
		"tritanopia": {
			{1.255528, -0.076749, -0.178779},
			{-0.078411, 0.930809, 0.147602},
			{0.004733, 0.691367, 0.303900},
		},
	}
}

// lab are CIE L*a*b* coordinates.
func lab(c [3]float64) [3]float64 {
	f := func(v float64) float64 {
		if v > 0.008856 {
			return math.Cbrt(v)
		}
		return 7.787*v + 16.0/116
	}
	x := f((0.4124*c[0] + 0.3576*c[1] + 0.1805*c[2]) / 0.9505)
	y := f(luminance(c))
	z := f((0.0193*c[0] + 0.1192*c[1] + 0.9505*c[2]) / 1.089)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// The first four series are told apart by colour alone at a glance, all eight
// side by side, by every kind of eye; dash and marker come on top.
func TestColoursAreToldApart(t *testing.T) {
	for name, colours := range themes(t) {
		for eye, m := range sight() {
			var seen [8][3]float64
			for i := range seen {
				c, s := linear(colours[fmt.Sprintf("c%d", i+1)]), [3]float64{}
				for row := range s {
					s[row] = min(max(m[row][0]*c[0]+m[row][1]*c[1]+m[row][2]*c[2], 0), 1)
				}
				seen[i] = lab(s)
			}
			for i := range seen {
				for j := range i {
					a, b := seen[i], seen[j]
					apart := math.Sqrt((a[0]-b[0])*(a[0]-b[0]) + (a[1]-b[1])*(a[1]-b[1]) + (a[2]-b[2])*(a[2]-b[2]))
					least := 11.0
					if i < 4 {
						least = 13
					}
					if apart < least {
						t.Errorf("%s, %s: --c%d and --c%d are %.1f apart, want at least %g", name, eye, j+1, i+1, apart,
							least)
					}
				}
			}
		}
	}
}

// Every colour that Style uses is defined, and drawings set none themselves.
func TestColoursComeFromThePage(t *testing.T) {
	defined := themes(t)
	for _, m := range regexp.MustCompile(`var\(--(\w+)\)`).FindAllStringSubmatch(string(chart.Style), -1) {
		if m[1] == "k" {
			continue
		}
		for name, colours := range defined {
			if colours[m[1]] == "" {
				t.Errorf("--%s is not defined for %s", m[1], name)
			}
		}
	}
	for _, d := range gallery() {
		svg := draw(t, d)
		for _, bad := range []string{"#0", "#f", "rgb(", "font-family", "style=", "fill=\"#"} {
			if strings.Contains(strings.ReplaceAll(svg, `href="#`, ""), bad) {
				t.Errorf("%s contains %s", d.name, bad)
			}
		}
	}
}
