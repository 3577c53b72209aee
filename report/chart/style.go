package chart

import "html/template"

// Colors defines the custom properties that charts use, for light, dark and
// print. A page that has its own leaves it out.
const Colors template.CSS = ``

// Style gives the classes of charts their colours out of custom properties:
// --c1 to --c8 (series), --fg, --muted, --grid, --bg, --ok, --warn, --bad. It
// goes into the page once.
const Style template.CSS = ``
