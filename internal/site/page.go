package main

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// page is a Markdown file that was parsed.
type page struct {
	title    string
	anchors  map[string]bool
	sections []*section
	links    []*[]byte // targets of its links and images, to be changed in place

	source []byte
	tree   ast.Node
}

// section is a heading with the text below it.
type section struct {
	heading, anchor string
	text            strings.Builder
}

// markdown renders what the pages use: CommonMark and tables. HTML within them is
// left out.
var markdown = goldmark.New(goldmark.WithExtensions(extension.Table))

// render parses a page.
func render(name string, source []byte) (*page, error) {
	p := &page{title: name, anchors: make(map[string]bool), source: source, sections: []*section{{}}}
	context := parser.NewContext(parser.WithIDs(&anchors{used: p.anchors}))
	p.tree = markdown.Parser().Parse(text.NewReader(source), parser.WithContext(context))

	err := ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			p.enter(n, context)
		} else if n.Type() == ast.TypeBlock || n.Kind() == east.KindTableCell {
			p.last().text.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, err
	}
	if len(p.sections) > 1 {
		p.title = p.sections[1].heading
	}
	p.sections[0].heading = p.title

	return p, nil
}

func (p *page) last() *section { return p.sections[len(p.sections)-1] }

// enter notes what a node of the tree is for links and search.
func (p *page) enter(n ast.Node, context parser.Context) {
	switch n := n.(type) {
	case *ast.Heading:
		heading := p.plain(n)
		id := context.IDs().Generate([]byte(heading), ast.KindHeading)
		n.SetAttributeString("id", id)
		p.sections = append(p.sections, &section{heading: heading, anchor: string(id)})
	case *ast.Link:
		p.links = append(p.links, &n.Destination)
	case *ast.Image:
		p.links = append(p.links, &n.Destination)
	case *ast.Text:
		p.last().text.Write(n.Value(p.source))
		if n.SoftLineBreak() || n.HardLineBreak() {
			p.last().text.WriteByte(' ')
		}
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		p.last().text.Write(n.Lines().Value(p.source))
	}
}

// plain is the text of a node, without its marks.
func (p *page) plain(n ast.Node) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function gives no error
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Value(p.source))
		}
		return ast.WalkContinue, nil
	})

	return b.String()
}

// html is the page's body.
func (p *page) html() ([]byte, error) {
	var b bytes.Buffer
	err := markdown.Renderer().Render(&b, p.source, p.tree)

	return b.Bytes(), err
}

// anchors names headings as code hosts do, so that links work there and here.
type anchors struct{ used map[string]bool }

// Generate implements parser.IDs.
func (a *anchors) Generate(heading []byte, _ ast.NodeKind) []byte {
	name := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		}
		return -1
	}, string(heading))

	id := name
	for n := 1; a.used[id]; n++ {
		id = fmt.Sprintf("%s-%d", name, n)
	}
	a.used[id] = true

	return []byte(id)
}

// Put implements parser.IDs.
func (a *anchors) Put(id []byte) { a.used[string(id)] = true }
