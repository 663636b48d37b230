/**
 * All pages, the approver's first: a system font, tabular figures, nothing loaded. Every text colour has a contrast of at least 4.5:1 on
 * its ground, in both schemes; every control is at least 44 px high. Holds no `<`, so that it cannot end its own element.
 */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --ground: #f3f5f8; --card: #ffffff; --text: #17212e; --muted: #4b5969; --line: #cfd6df; --field: #7b8794;
  --accent: #1d4ed8; --on-accent: #ffffff; --focus: #1d4ed8;
  --good: #166534; --good-ground: #e9f6ee; --warn: #8a4a05; --warn-ground: #fdf4e3; --bad: #b01c1c; --bad-ground: #fdeeee;
  --info: #1e429f; --info-ground: #e9effd;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0e1319; --card: #171e27; --text: #e7ecf2; --muted: #a8b4c2; --line: #323d4a; --field: #7d8a99;
    --accent: #9dbcff; --on-accent: #0b1526; --focus: #9dbcff;
    --good: #7ddba0; --good-ground: #13281c; --warn: #f0bd68; --warn-ground: #2b2110; --bad: #ff9c9c; --bad-ground: #331719;
    --info: #a9c4ff; --info-ground: #16223a;
  }
}
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; padding: 0 20px 64px; background: var(--ground); color: var(--text);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
.frame { max-width: 880px; margin: 0 auto; }
.brand {
  display: flex; align-items: baseline; justify-content: space-between; gap: 16px; flex-wrap: wrap;
  padding: 24px 0 20px; color: var(--muted); font-size: 14px;
}
.brand strong { color: var(--text); font-size: 16px; letter-spacing: -0.01em; }
h1 { margin: 12px 0 12px; font-size: 32px; line-height: 1.2; letter-spacing: -0.02em; text-wrap: balance; }
h1 .amount { white-space: nowrap; }
h1 + .card { margin-top: 24px; }
h2 { margin: 0; font-size: 18px; line-height: 1.35; letter-spacing: -0.01em; }
h3 { margin: 24px 0 4px; font-size: 15px; line-height: 1.4; }
p { margin: 0 0 12px; max-width: 66ch; }
a { color: var(--accent); }
time { white-space: nowrap; }
.lead { color: var(--muted); font-size: 17px; margin-bottom: 28px; }
.lead strong, .lead bdi { color: var(--text); font-weight: 600; }
.pill {
  display: inline-block; padding: 3px 12px; border-radius: 999px; font-size: 14px; font-weight: 600;
  background: var(--info-ground); color: var(--info);
}
.pill.good { background: var(--good-ground); color: var(--good); }
.pill.bad { background: var(--bad-ground); color: var(--bad); }
.pill.warn { background: var(--warn-ground); color: var(--warn); }
.pill.quiet { background: var(--ground); color: var(--muted); box-shadow: inset 0 0 0 1px var(--line); }
.sides { display: grid; gap: 20px; align-items: start; margin-bottom: 20px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 22px 24px; margin-bottom: 20px; }
.sides .card { margin-bottom: 0; }
.card > :last-child { margin-bottom: 0; }
.ledger { background: linear-gradient(var(--good) 0 5px, var(--card) 5px); }
.claims { border: 2px dashed var(--warn); }
.says { margin: 2px 0 10px; color: var(--muted); font-size: 14px; }
.claims .says { color: var(--warn); }
dl { margin: 0; }
dl > div { display: grid; grid-template-columns: minmax(0, 11fr) minmax(0, 13fr); gap: 16px; padding: 9px 0; border-top: 1px solid var(--line); }
dl > div:first-child { border-top: 0; }
dt { color: var(--muted); }
dd { margin: 0; font-weight: 600; }
dd.figure { font-size: 18px; line-height: 1.35; }
mark, .warning { display: block; margin: 0; padding: 8px 12px; border-radius: 8px; background: var(--warn-ground); color: var(--warn); font-size: 15px; }
ul.others { list-style: none; margin: 0; padding: 0; }
ul.others li { padding: 10px 0; border-top: 1px solid var(--line); font-size: 15px; }
ul.others li:first-child { border-top: 0; }
ul.others .small { display: block; }
.small { color: var(--muted); font-size: 14px; }
.notice { --edge: var(--info); background: linear-gradient(to right, var(--edge) 0 6px, var(--card) 6px); }
.notice.good { --edge: var(--good); }
.notice.bad { --edge: var(--bad); }
.notice.warn { --edge: var(--warn); }
.notice.quiet { --edge: var(--field); }
.notice h2 { margin-bottom: 6px; }
.problems { border: 3px solid var(--bad); }
.problems h2 { margin-bottom: 8px; }
.problems ul { margin: 0; padding-left: 20px; }
.problems a { color: var(--bad); font-weight: 600; }
.problems li + li { margin-top: 6px; }
form h2 { margin-bottom: 16px; }
fieldset { margin: 0 0 24px; padding: 0; border: 0; min-width: 0; }
legend, .label { display: block; padding: 0; margin-bottom: 6px; font-weight: 600; }
.hint { margin: 0 0 8px; color: var(--muted); font-size: 15px; }
.hint strong { color: var(--text); }
.choices { display: grid; gap: 12px; margin-top: 8px; }
.choice {
  display: flex; align-items: center; gap: 12px; min-height: 56px; padding: 10px 16px; cursor: pointer;
  border: 1px solid var(--field); border-radius: 10px;
}
.choice:has(:checked) { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
.choice:has(:focus-visible) { outline: 3px solid var(--focus); outline-offset: 2px; }
.choice input { flex: none; width: 22px; height: 22px; margin: 0; accent-color: var(--accent); outline: none; }
.choice span { display: block; }
.field { margin-bottom: 24px; }
input[type="text"], textarea {
  display: block; width: 100%; padding: 10px 14px; border: 1px solid var(--field); border-radius: 10px;
  background: var(--card); color: var(--text); font: inherit; font-variant-numeric: tabular-nums;
}
input[type="text"] { min-height: 48px; max-width: 20ch; font-size: 18px; }
textarea { min-height: 112px; resize: vertical; }
[aria-invalid="true"]:is(input, textarea), [aria-invalid="true"] .choice { border: 2px solid var(--bad); }
.problem { margin: 0 0 8px; color: var(--bad); font-weight: 600; }
button {
  min-height: 48px; padding: 12px 28px; border: 0; border-radius: 10px; cursor: pointer;
  background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600;
}
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
.reload { display: inline-flex; align-items: center; min-height: 44px; font-weight: 600; }
footer { margin-top: 28px; color: var(--muted); font-size: 14px; }
footer p { margin-bottom: 4px; }
@media (min-width: 760px) {
  .sides { grid-template-columns: 1fr 1fr; }
  .choices { grid-template-columns: 1fr 1fr; }
  .card { padding: 26px 30px; }
}
@media (max-width: 480px) {
  h1 { font-size: 26px; }
  h1 .amount { display: block; }
  body { padding: 0 16px 48px; }
  .card { padding: 20px 18px; }
  button { width: 100%; }
}
@media (forced-colors: active) {
  button { border: 1px solid; }
}
`;
