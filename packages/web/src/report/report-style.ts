/** Light or dark as the reader's system is; light in print, where the pictures stand in for the charts. */
export const reportStyle = `
:root { color-scheme: light dark; --text: #1b2127; --faint: #5d6771; --line: #e1e5ea; --ground: #ffffff; --accent: #0f6ba8; font: 15px/1.5 Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; color: var(--text); background: var(--ground); }
@media (prefers-color-scheme: dark) { :root { --text: #e6ebf0; --faint: #97a3ae; --line: #2a323a; --ground: #1a2026; --accent: #63b3ed; } }
body { margin: 0; } main { max-width: 76rem; margin: 0 auto; padding: 1.5rem clamp(.75rem, 3vw, 2rem) 4rem; }
h1 { font-size: 1.6rem; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem; } h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; overflow-wrap: anywhere; } p { margin: .3rem 0; overflow-wrap: anywhere; }
.faint, caption { color: var(--faint); font-size: .87rem; }
table { border-collapse: collapse; font-size: .9rem; } td, th { padding: .3rem 1rem .3rem 0; text-align: left; vertical-align: top; overflow-wrap: anywhere; }
.rows { width: 100%; } .rows td { border-top: 1px solid var(--line); } .rows th { color: var(--faint); font-weight: 600; } caption { text-align: left; padding-bottom: .2rem; }
.facts { margin-top: .8rem; } .facts th { color: var(--faint); font-weight: 400; white-space: nowrap; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.scroll { overflow-x: auto; margin-top: .6rem; max-height: 32rem; overflow-y: auto; }
pre { overflow: auto; max-height: 20rem; padding: .6rem .8rem; border: 1px solid var(--line); border-radius: 6px; white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem; }
figure { margin: .5rem 0; position: relative; } .still svg { width: 100%; height: auto; background: #fff; } .drawn > .still, figcaption button { display: none; } .drawn figcaption button { display: inline; }
.chart-tip { max-width: min(320px, 70vw); white-space: pre-line; overflow-wrap: anywhere; }
button, input { font: inherit; color: inherit; background: transparent; border: 1px solid var(--line); border-radius: 6px; padding: .1rem .5rem; } button { cursor: pointer; }
th button { border: 0; padding: 0; font-weight: 600; } th[aria-sort="ascending"] button::after { content: " ↑"; } th[aria-sort="descending"] button::after { content: " ↓"; }
.search { display: block; margin: .6rem 0; color: var(--faint); font-size: .87rem; } .search input { color: var(--text); margin-left: .4rem; width: min(20rem, 60vw); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
@media print {
  :root { color-scheme: light; --text: #000; --faint: #444; --line: #ccc; --ground: #fff; font-size: 11px; }
  .live, .search, figcaption { display: none !important; } .drawn > .still { display: block; } .scroll, pre { max-height: none; overflow: visible; } figure, h2, h3 { break-inside: avoid; break-after: avoid-page; } tr { break-inside: avoid; }
}
`;
