// Plain English in the README and the pages: write-good's checks, a vocabulary, and limits on long sentences and on the
// passive voice. Says each place, and fails if there is one. Usage: node .ci/prose/check.js FILE...
'use strict';

const fs = require('fs');
const path = require('path');
const writeGood = require('write-good');

const LONGEST_SENTENCE = 34;
// The passive voice is sometimes right; a page of it is not.
const MOST_PASSIVE = 0.15;
const PASSIVE = { fn: require('passive-voice'), explanation: 'is passive' };

const lines = fs.readFileSync(path.join(__dirname, 'vocabulary.txt'), 'utf8').split('\n');
const refused = lines.filter((line) => line.includes(' -> ')).map((line) => line.split(' -> '));
const terms = new Set(lines.filter((line) => line.startsWith('+ ')).map((line) => line.slice(2)));

const masked = (text, letter) => text.replace(/[^\n]/g, letter);

/** The prose of a Markdown text, every letter at its place: code, addresses and comments are masked. */
function prose(text) {
  // Two code spans, one after the other, are two words.
  let span = 0;
  const word = (code) => masked(code, 'xyz'[span++ % 3]);
  return text
    .replace(/^(`{3,})[^]*?^\1$/gm, (block) => masked(block, ' '))
    .replace(/<!--[^]*?-->/g, (comment) => masked(comment, ' '))
    .replace(/`[^`]+`/g, word)
    .replace(/\]\([^)]*\)/g, (link) => masked(link, ' '))
    .replace(/https?:\S+/g, (link) => masked(link, 'x'))
    .replace(/[[*|]/g, (mark) => (mark === '|' ? '.' : ' '))
    .replace(/\n\n/g, '.\n');
}

/** Sentences with their places: a heading, a cell and an entry of a list end one, too. */
function sentences(text) {
  const found = [];
  const ends = /(?:[.!?:;](?=\s|$)|\n(?=\s*(?:[-#.]|\d+\.)\s)|$)/g;
  let from = 0;
  for (const end of text.matchAll(ends)) {
    const sentence = text.slice(from, end.index);
    if (/\w/.test(sentence)) found.push({ index: from + sentence.search(/\S/), text: sentence.trim() });
    from = end.index + end[0].length;
  }
  return found;
}

function words(text) {
  return text.split(/\s+/).filter((word) => /\w/.test(word)).length;
}

/** What is wrong with a page, as places with reasons. */
function check(text) {
  const plain = prose(text);
  const said = sentences(plain);
  const is = (suggestion) => plain.substr(suggestion.index, suggestion.offset).toLowerCase();
  const isOurs = (suggestion) => terms.has(is(suggestion));
  const found = writeGood(plain, { passive: false }).filter((suggestion) => !isOurs(suggestion));
  for (const [word, better] of refused) {
    for (const hit of plain.matchAll(new RegExp(`\\b${word}\\b`, 'gi'))) {
      found.push({ index: hit.index, reason: `"${hit[0]}" is not plain: write ${better}` });
    }
  }
  for (const sentence of said) {
    const length = words(sentence.text);
    if (length > LONGEST_SENTENCE) {
      found.push({ index: sentence.index, reason: `this sentence has ${length} words; ${LONGEST_SENTENCE} are allowed` });
    }
  }
  const whole = said.filter((sentence) => words(sentence.text) > 3);
  const passive = writeGood(plain, { checks: { passive: PASSIVE } }).filter((suggestion) => !isOurs(suggestion));
  if (passive.length > Math.max(2, whole.length * MOST_PASSIVE)) {
    const share = Math.round((100 * passive.length) / whole.length);
    const most = `the page is passive in ${share} % of its sentences; ${100 * MOST_PASSIVE} % are allowed`;
    found.push(...passive.map((hit) => ({ index: hit.index, reason: `${hit.reason}: ${most}` })));
  }
  return found.sort((a, b) => a.index - b.index);
}

let wrong = 0;
const files = process.argv.slice(2);
for (const file of files) {
  const text = fs.readFileSync(file, 'utf8');
  for (const { index, reason } of check(text)) {
    console.log(`${file}:${text.slice(0, index).split('\n').length}: ${reason}`);
    wrong += 1;
  }
}
console.log(`${files.length} pages, ${wrong} places that are not plain`);
process.exitCode = wrong === 0 && files.length > 0 ? 0 : 1;
