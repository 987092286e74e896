// Every text that people or agents get from AutoBuild, on one page with the sample values of its snapshots, to be read as
// somebody who has ten seconds. Usage: node .ci/prose/texts.js AUTOBUILD PAGE
'use strict';

const { execFileSync } = require('child_process');
const fs = require('fs');
const path = require('path');

const [program, page] = process.argv.slice(2);

/** The snapshots of a folder as sections: what stands under `== NAME` is a section of its own. */
function snapshots(folder) {
  return fs
    .readdirSync(folder)
    .filter((name) => name.endsWith('.snap'))
    .sort()
    .map((name) => {
      const text = fs.readFileSync(path.join(folder, name), 'utf8').replace(/^---\n[^]*?\n---\n/, '');
      const title = name.replace(/^.*__|\.snap$/g, '').replaceAll('_', ' ');
      return `## ${title}\n\n${text.replace(/^== (.*)$/gm, '\n#### $1\n')}`;
    });
}

const help = (command) => execFileSync(program, [...command, '--help'], { encoding: 'utf8' });
const commands = [...help([]).matchAll(/^ {2}([a-z]+) {2,}/gm)].map((hit) => hit[1]).filter((name) => name !== 'help');
const parts = [
  '# Comments, reviews, reports and replies',
  ...snapshots('src/messages/snapshots'),
  '# Prompts',
  ...snapshots('src/agents/prompt/snapshots'),
  '# Help on the terminal',
  ...[[], ...commands.map((name) => [name])].map(
    (command) => `## autobuild ${command.join(' ')}\n\n\`\`\`text\n${help(command).trimEnd()}\n\`\`\``,
  ),
];
fs.mkdirSync(path.dirname(page), { recursive: true });
fs.writeFileSync(page, `${parts.join('\n\n')}\n`);
console.log(`${page}: ${parts.length} parts`);
