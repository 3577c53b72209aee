// Package exact has questions with one right answer each, by which a server is
// seen to compute what its model computes.
//
// What goes in: nothing, or the text of an answer. What comes out: the questions,
// whether an answer is right. It sends nothing.
//
// The questions are far easier than any benchmark of knowledge: a model of
// some billion parameters answers nearly all. A score compares variants of one model, never
// models.
package exact

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Question is a question and its answer.
type Question struct {
	Kind string // "arithmetic", "copying", "ordering"
	Ask  string // "17 + 25"
	Want string // "42"
}

// AnswerTokens is how long an answer may be.
const AnswerTokens = 48

// examples show how to answer. Models without a chat template follow them, too.
const examples = `Answer each question with the answer alone.

Q: 31 + 6
A: 37

Q: Copy: kite 52 lamp
A: kite 52 lamp

Q: Sort ascending: 8 3 11 5
A: 3 5 8 11

Q: `

// Prompt is what is sent.
func (q Question) Prompt() string { return examples + q.Ask + "\nA:" }

// Find is the question that a prompt of Prompt asks; false: it asks none.
func Find(prompt string) (Question, bool) {
	_, rest, ok := strings.Cut(prompt, examples)
	ask, _, ended := strings.Cut(rest, "\nA:")
	at := slices.IndexFunc(Questions(), func(q Question) bool { return q.Ask == ask })
	if !ok || !ended || at < 0 {
		return Question{}, false
	}
	return Questions()[at], true
}

// Right reports whether the first line of an answer is the right answer: blanks, a
// repeated "A:" and a full stop at the end do not matter.
func (q Question) Right(answer string) bool {
	line, _, _ := strings.Cut(strings.TrimSpace(answer), "\n")
	line = strings.TrimPrefix(strings.TrimSpace(line), "A:")
	line = strings.TrimSuffix(strings.TrimSpace(line), ".")
	return strings.Join(strings.Fields(line), " ") == q.Want
}

// Questions are the fifty questions, in the order in which they are asked.
func Questions() []Question {
	return slices.Concat(arithmetic(), copying(), ordering())
}

func arithmetic() []Question {
	var all []Question
	add := func(a int, sign string, b, want int) {
		all = append(all, Question{"arithmetic", fmt.Sprintf("%d %s %d", a, sign, b), strconv.Itoa(want)})
	}
	for _, p := range [][2]int{{17, 25}, {8, 34}, {46, 39}, {70, 15}, {58, 27}, {93, 6}, {120, 45}, {209, 61}} {
		add(p[0], "+", p[1], p[0]+p[1])
	}
	for _, p := range [][2]int{{50, 13}, {81, 29}, {64, 16}, {100, 37}, {72, 45}, {150, 60}} {
		add(p[0], "-", p[1], p[0]-p[1])
	}
	for _, p := range [][2]int{{3, 7}, {6, 8}, {9, 9}, {12, 4}, {7, 11}, {5, 15}} {
		add(p[0], "*", p[1], p[0]*p[1])
	}
	return all
}

func copying() []Question {
	var all []Question
	for _, text := range []string{
		"river stone 7", "green apple pie", "north 14 south 41", "window glass door key", "Paris Rome Oslo Bern",
		"red red blue red", "4 8 15 16 23 42", "alpha Beta gamma", "one two three two one", "zebra 99 yak 3",
		"maple oak birch elm pine", "x1 y2 z3", "cold warm hot warm cold", "silver 250 gold 17", "monday friday sunday",
	} {
		all = append(all, Question{"copying", "Copy: " + text, text})
	}
	return all
}

func ordering() []Question {
	var all []Question
	for _, text := range []string{
		"9 2 5", "14 3 8 1", "20 10 30", "6 6 2 9", "41 14 4", "100 10 1 50", "7 5 3 1", "13 31 11 33", "12 21 2 1",
		"88 8 18", "3 1 2 5 4", "60 16 66", "27 72 22", "9 90 19 91", "5 55 25",
	} {
		var numbers []int
		for field := range strings.FieldsSeq(text) {
			n, _ := strconv.Atoi(field) // the list above holds numbers
			numbers = append(numbers, n)
		}
		slices.Sort(numbers)
		want := strings.Trim(fmt.Sprint(numbers), "[]")
		all = append(all, Question{"ordering", "Sort ascending: " + text, want})
	}
	return all
}
