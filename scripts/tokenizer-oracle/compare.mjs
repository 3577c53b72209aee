// Usage: node compare.mjs ENGINE TOKENIZER.JSON < texts.json > answers.json
//
// ENGINE is "rust" (Hugging Face tokenizers) or "js" (tokenizers.js). texts.json
// is a list of strings. The answer is a list of {ids, special, text, bare}: the
// ids without and with those that open and close a sequence, and what ids
// decode to, with special tokens and without.
// Exit status 3: this engine is not installed here.
import { readFileSync } from "node:fs";

const [engine, file] = process.argv.slice(2);
const texts = JSON.parse(readFileSync(0, "utf8"));

async function rust() {
  let module;
  try {
    module = (await import("@anush008/tokenizers")).default;
  } catch (cause) {
    console.error(String(cause));
    process.exit(3);
  }
  const tokenizer = module.Tokenizer.fromFile(file);
  return async (text) => {
    const ids = Array.from((await tokenizer.encode(text, null, { addSpecialTokens: false })).getIds(), Number);
    const special = Array.from((await tokenizer.encode(text)).getIds(), Number);
    return { ids, special, text: await tokenizer.decode(ids, false), bare: await tokenizer.decode(ids, true) };
  };
}

async function js() {
  const { Tokenizer } = await import("@huggingface/tokenizers");
  const tokenizer = new Tokenizer(JSON.parse(readFileSync(file, "utf8")), {});
  return async (text) => {
    const ids = tokenizer.encode(text, { add_special_tokens: false }).ids;
    const special = tokenizer.encode(text).ids;
    const decode = (skip) =>
      ids.length === 0 ? "" : tokenizer.decode(ids, { skip_special_tokens: skip, clean_up_tokenization_spaces: false });
    return { ids, special, text: decode(false), bare: decode(true) };
  };
}

const answer = await { rust, js }[engine]();
const answers = [];
for (const text of texts) {
  answers.push(await answer(text));
}
process.stdout.write(JSON.stringify(answers));
