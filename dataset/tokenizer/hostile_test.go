package tokenizer

import (
	"math/rand/v2"
	"strings"
)

// hostileTexts are texts that tokenizers are known to get wrong.
func hostileTexts() []string {
	return []string{
		"", " ", "  ", "   ", "\t", "\n", "\r\n", "\r", "\n\n", "\r\n\r\n", " \n", "\n ", " \n ", "a\n", "a \n",
		"a  \n b", "a\r\nb\r\n",
		"Hello world", " Hello world ", "Hello  world", "Hello   world", "  Hello\n\n\nworld  ",
		"\u00a0Hello\u00a0world\u3000",
		"I'm you're he'LL they'Ve don't 'S 's ''s 'ſ ’s 'd'D", "x'sy", "'", "''", "1", "12", "123", "1234",
		"12345678901234567890", "3.14159 -1e-9 0x1F",
		"١٢٣٤٥ ۱۲۳ ⅷ ½ ² ₃ ①②", "a1b2c3", "foo_bar-baz.qux/quux", "https://example.com/a?b=c&d=%20#e",
		"<html><body>&amp;</body></html>",
		"def f(x):\n    return x  # tab\t\n\n\n", "{\"a\": [1, 2, {\"b\": null}]}", "    indented\n\t\tmore\n",
		"!!!???...,,,", "$$$ €€ £ ¥", "~`^|\\",
		"日本語のテキスト", "中文字符，没有空格。", "한국어 텍스트", "漢字かなカナｶﾅ", "𠮷野家𡈽", "ไทยไม่มีช่องว่าง", "हिन्दी में पाठ", "தமிழ்",
		"ქართული", "Ελληνικά", "Привет, мир!",
		"שלום עולם", "السلام عليكم", "\u202eRTL override\u202c", "abc \u200fשלום\u200e def", "ﷺ ﷽",
		"😀", "😀😀😀", "👨‍👩‍👧‍👦", "👩🏽‍🚀 🏳️‍🌈 🇩🇪🇫🇷", "☺️ ☺︎", "a😀b", "🤷🏿‍♀️!", "1️⃣2️⃣", "\U0001F9FF\U0001FAE0\U0001FAE8",
		"e\u0301", "é", "A\u030a Å \u212b", "q\u0323\u0307 q\u0307\u0323", "\u0301abc", "n\u0303\u0303",
		"각 \u1100\u1161\u11a8 \u1100\u1161", "ﬁ ﬀ ﬆ ſ K Ω", "İ ı I i ß ẞ ς σ Σ",
		"Z\u0351\u036b\u0343\u036a\u0302a\u0300\u0301\u0302", "a" + strings.Repeat("\u0301", 40),
		"a" + strings.Repeat("\u0316\u0301", 40) + "b", "\u0344\u0958\u2adc\ufb1d",
		"\x00", "a\x00b", "\x01\x02\x03\x1f\x7f", "\u0080\u0085\u009f", "a\u0085b \u0085 c",
		"\u200b\u200c\u200d\u2060\ufeff", "\ufeffBOM", "\u2028\u2029", "\v\f", "x \v y",
		"\u180e\u1680\u2000\u2007\u202f\u205f\u3000",
		"\ufffd", "\ufffe\uffff", "\U0010ffff", "\ue000\U000f0000", "\u0378\u0530", "\U000e0001\U000e0020",
		"<s>", "</s>", "<unk>", "<s>Hello</s>", " <s> Hello </s> ", "<s><s>", "a<s>b", "<|endoftext|>",
		"a<|endoftext|>b", " <|endoftext|> ", "<|begin_of_text|>x<|eot_id|>", "<|im_start|>user\nhi<|im_end|>\n",
		"<|im_start|", "<bos>x<eos>", "<start_of_turn>user\n\n<end_of_turn>",
		"<think>\n\n</think>", "<｜begin▁of▁sentence｜>x<｜end▁of▁sentence｜>", "<tool_call>{}</tool_call>",
		"[INST] hi [/INST]", "<0x0A>", "<0x41><0xE4>", "▁", "▁▁a▁b", " ▁ ", "Ġ Ċ ĉ", "<unused7><pad>", "<SPECIAL_20>",
		strings.Repeat("a", 300), strings.Repeat(" ", 300), strings.Repeat(" ", 100) + "x", strings.Repeat("\n", 100),
		strings.Repeat("\n", 31) + "x", strings.Repeat("ab", 200), strings.Repeat("=", 129), strings.Repeat("😀", 50),
		strings.Repeat("9", 100), strings.Repeat("\t", 40) + "x", strings.Repeat("\r\n", 30), strings.Repeat("中", 100),
		strings.Repeat("The quick brown fox. ", 20), "Thequickbrownfoxjumpsoverthelazydog",
		"ANTIDISESTABLISHMENTARIANISM", "CamelCaseAndSnake_case", "aA bB cC", "ǅ ǆ Ǆ ʰ ªº",
	}
}

// hostileText makes a text of fragments that meet badly.
func hostileText(r *rand.Rand) string {
	ranges := [][2]rune{
		{0, 0x20},
		{0x20, 0x7f},
		{'a', 'z' + 1},
		{'A', 'Z' + 1},
		{'0', '9' + 1},
		{0x80, 0x100},
		{0x100, 0x250},
		{0x300, 0x370},
		{0x370, 0x530},
		{0x590, 0x780},
		{0x900, 0xe00},
		{0xe00, 0xf00},
		{0x1100, 0x1200},
		{0x1e00, 0x2000},
		{0x2000, 0x2070},
		{0x2070, 0x2800},
		{0x3000, 0x3100},
		{0x4e00, 0x9fff},
		{0xac00, 0xd7a4},
		{0xf900, 0xfb50},
		{0xfe00, 0xfe70},
		{0xff00, 0xfff0},
		{0x1d400, 0x1d800},
		{0x1f300, 0x1fb00},
		{0x20000, 0x2a6e0},
	}
	glue := []string{
		" ", "  ", "\n", "\r\n", "\t", " \n", "'", "'s", "'RE", ".", ",", "-", "_", "<", ">", "|", "▁",
		"\u0301", "\u200d", "\ufe0f", "\u3000", "\u00a0",
	}
	fixed := hostileTexts()
	var out strings.Builder
	for range 1 + r.IntN(12) {
		switch r.IntN(6) {
		case 0:
			out.WriteString(glue[r.IntN(len(glue))])
		case 1:
			if s := fixed[r.IntN(len(fixed))]; len(s) < 60 {
				out.WriteString(s)
			}
		case 2:
			out.WriteString(strings.Repeat(glue[r.IntN(len(glue))], 1+r.IntN(9)))
		default:
			in := ranges[r.IntN(len(ranges))]
			for range 1 + r.IntN(8) {
				c := in[0] + r.Int32N(in[1]-in[0])
				out.WriteRune(c)
			}
		}
	}
	return out.String()
}

// hostileCorpus is the fixed texts and n more by a seed.
func hostileCorpus(seed uint64, n int) []string {
	r := rand.New(rand.NewPCG(seed, 1))
	out := hostileTexts()
	for range n {
		out = append(out, hostileText(r))
	}
	return out
}
