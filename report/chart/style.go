package chart

// Colors defines the custom properties that charts use, for light, dark and
// print: the page's data-theme first, else what the reader's system asks for.
// A page that has its own colours leaves it out.
//
// The order of the series follows Okabe and Ito's palette for all kinds of
// colour vision: blue, vermilion, bluish green, reddish purple, then darker
// and lighter ones. Each is at least 3:1 against the background; lightness
// differs from neighbour to neighbour, so that a grey copy can be read.
const Colors = `:root{` + light + `color-scheme:light dark}
@media screen and (prefers-color-scheme:dark){:root:not([data-theme=light]){` + dark + `}}
:root[data-theme=dark]{` + dark + `}
@media print{:root,:root[data-theme=dark]{` + light + `}}
`

const light = `--bg:#ffffff;--fg:#1b1f24;--muted:#57606a;--grid:#e4e8ec;--axis:#8c959f;` +
	`--ok:#00794f;--warn:#9a6700;--bad:#c0392b;` +
	`--c1:#1f5fb4;--c2:#f0501e;--c3:#17955f;--c4:#a0668c;--c5:#703410;--c6:#4a90f0;--c7:#6e9f2e;--c8:#3a4149;`

const dark = `--bg:#14171b;--fg:#e6e9ec;--muted:#9aa4ae;--grid:#2b3138;--axis:#6b757f;` +
	`--ok:#3fc48c;--warn:#e0b03b;--bad:#ff7b6b;` +
	`--c1:#58a9e6;--c2:#f0853e;--c3:#2fc596;--c4:#e59bc9;--c5:#a9761a;--c6:#9fd6f7;--c7:#e6df5a;--c8:#e6e9ec;`

// Style gives the classes of charts their colours out of custom properties:
// --c1 to --c8 (series), --fg, --muted, --axis, --grid, --bg, --ok, --warn,
// --bad. It goes into the page once. Text keeps the page's font.
//
// Kinds: l line, f area, h unseen target, t tick label, a axis title, n label
// of a point, s and p text on a full and on a pale area. The other classes choose the colour.
const Style = `svg.chart{display:block;width:100%;height:auto;max-width:100%;overflow:visible;font-family:inherit}
.chart text{fill:var(--fg);font-size:12px;stroke:none}
.chart text.t{fill:var(--muted);font-size:11px;font-variant-numeric:tabular-nums}
.chart text.a{fill:var(--muted)}
.chart text.n{font-size:11px;paint-order:stroke;stroke:var(--bg);stroke-width:3px;stroke-linejoin:round}
.chart text.p{font-size:11px;pointer-events:none}
.chart text.s{fill:var(--bg);font-size:11px;pointer-events:none}
.chart .l{fill:none;stroke:var(--k);stroke-linejoin:round}
.chart .f{fill:var(--k);stroke:none}
.chart .f.o{fill:var(--bg);stroke:var(--k);stroke-width:1.6}
.chart .f.pale{fill-opacity:.16}
.chart .f.half{fill-opacity:.45}
.chart .l.half{stroke-opacity:.55}
.chart .f.h{fill:transparent;pointer-events:all}
.chart .fg{--k:var(--fg)}.chart .muted{--k:var(--muted)}.chart .grid{--k:var(--grid)}.chart .axis{--k:var(--axis)}.chart .bg{--k:var(--bg)}
.chart .ok{--k:var(--ok)}.chart .warn{--k:var(--warn)}.chart .bad{--k:var(--bad)}
.chart .c1{--k:var(--c1)}.chart .c2{--k:var(--c2)}.chart .c3{--k:var(--c3)}.chart .c4{--k:var(--c4)}
.chart .c5{--k:var(--c5)}.chart .c6{--k:var(--c6)}.chart .c7{--k:var(--c7)}.chart .c8{--k:var(--c8)}
.chart a{cursor:pointer;outline:none}
.chart a:hover .f:not(.h),.chart a:focus-visible .f:not(.h){stroke:var(--fg);stroke-width:2}
.chart a:focus-visible .h{stroke:var(--fg);stroke-width:1.5}
@media print{.chart .f,.chart .l{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
`

// PageStyle is the style sheet of a page without further scripts: Colors, Style, and
// headings, tables and charts that fit a phone. The class broad is for charts of a
// wide screen, narrow for those of a phone.
const PageStyle = Colors + Style + `:root{--panel:light-dark(#f6f8fa,#1b2026);--line:light-dark(#d0d7de,#333b44);--head:light-dark(#eef1f4,#222930)}
*{box-sizing:border-box}
body{font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;color:var(--fg);background:var(--bg);margin:1rem auto;max-width:1240px;padding:0 1.25rem}
h1{font-size:1.4rem;margin:0 0 .3rem}
h2{font-size:1.2rem;margin:1.8rem 0 .6rem}
h1,h2,p{overflow-wrap:anywhere}
p{margin:.3rem 0}
.dim,caption{color:var(--muted)}
caption{text-align:left;padding:.4rem .7rem}
.verdict{margin:.6rem 0;padding:.7rem 1.1rem;border:1px solid var(--line);border-left:6px solid var(--c1);border-radius:8px;background:var(--panel)}
.wide,.plot{overflow-x:auto;border:1px solid var(--line);border-radius:8px;margin:.6rem 0}
.plot{padding:.7rem}
.narrow{display:none}
table{border-collapse:separate;border-spacing:0;width:100%;font-size:.88rem;font-variant-numeric:tabular-nums}
th,td{padding:.28rem .7rem;text-align:left;white-space:nowrap;border-bottom:1px solid var(--grid)}
thead th{background:var(--head)}
@media (max-width:640px){body{padding:0 .8rem}.broad{display:none}.narrow{display:block}.plot{padding:.4rem}}
`
