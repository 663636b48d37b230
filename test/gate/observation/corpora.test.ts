import { expect, it } from 'vitest';
import { cleanText } from '../../../src/gate/observation/clean.ts';
import { flawsIn } from '../../support/clean-text.ts';
import { describeCorpus, payloadsOf, stringsIn } from '../../support/corpora.ts';

const KINDS = ['plain', 'markdown', 'html'] as const;

/** Those strings of which cleaning leaves a flaw, whatever kind of text they are taken for. */
const flawed = (strings: string[]): unknown[] =>
  strings.flatMap((value) =>
    KINDS.flatMap((kind) => {
      const flaws = flawsIn(cleanText(value, kind), kind);
      return flaws.length === 0 ? [] : [{ value, kind, flaws }];
    }),
  );

describeCorpus('naughty-strings', (corpus) => {
  it('leaves no flaw in any string', () => expect(flawed(payloadsOf(corpus, 'blns.json'))).toEqual([]));
});

describeCorpus('markup', (corpus) => {
  it.each(corpus.names.filter((name) => /\.(?:txt|json)$/.test(name)))('leaves no markup of %s', (name) => {
    expect(flawed(payloadsOf(corpus, name))).toEqual([]);
  });
});

describeCorpus('injection', (corpus) => {
  it.each(corpus.names.filter((name) => /\.jsonl?$/.test(name)))('leaves no flaw in the texts of %s', (name) => {
    const lines = name.endsWith('l') ? corpus.text(name).trim().split('\n') : [corpus.text(name)];
    expect(flawed(lines.flatMap((line) => stringsIn(JSON.parse(line))))).toEqual([]);
  });
});

type TokenizerTest = { description: string; input: string; output: [type: string, text: string][] };

/** Where a page shows a line break, the text has a space; the tokenizer knows no lines. */
const PARTED = new Set(['Two unclosed start tags']);
/** Markup declarations that end too early are shown as text rather than lost. */
const SHOWN = /^(?:Correct Doctype case with EOF|Start of a comment|DOCTYPE with EOF.*|Incomplete doctype)$/;

describeCorpus('html-text', (corpus) => {
  it.each(['test1.test', 'test2.test', 'entities.test'])(
    'finds the text that an HTML tokenizer finds in %s',
    (name) => {
      const { tests } = JSON.parse(corpus.text(name)) as { tests: TokenizerTest[] };
      for (const { description, input, output } of tests) {
        if (PARTED.has(description) || SHOWN.test(description)) continue;
        const text = output.filter(([type]) => type === 'Character').map(([, characters]) => characters);
        expect(cleanText(input, 'html'), description).toBe(cleanText(text.join(''), 'html'));
      }
    },
  );
});
