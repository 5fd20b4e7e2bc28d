const light = [
	'#1c2024',
	'#a3182b',
	'#1a6b32',
	'#6f5000',
	'#1f4fbf',
	'#8a1f86',
	'#0b6673',
	'#4b535b',
	'#525b64',
	'#ab231b',
	'#176b31',
	'#775500',
	'#2656cf',
	'#9a2c96',
	'#0b6673',
	'#1c2024',
];
const dark = [
	'#aab4be',
	'#ff9994',
	'#7ddc95',
	'#e8c264',
	'#9cbeff',
	'#ec9be8',
	'#6fd3e0',
	'#cfd6dd',
	'#aeb7c0',
	'#ffa8a3',
	'#9be8ae',
	'#f3d58a',
	'#adc9ff',
	'#f4b7f1',
	'#93e3ee',
	'#f2f5f7',
];
const lightBack = ['#dde1e5', '#fbdfe0', '#dcf1e1', '#f7ecc9', '#dde7fd', '#f6e0f5', '#d6f0f3', '#e7eaed'];
const darkBack = ['#2b3238', '#4a2426', '#1f3d29', '#44381a', '#22345a', '#432744', '#1a3d43', '#333a41'];

const rules = (colors: readonly string[], backs: readonly string[]): string =>
	[...colors.map((color, index) => `.f${index}{color:${color}}`), ...[...backs, ...backs].map((color, index) => `.b${index}{background:${color}}`)].join('');

/** The style of a page: one sheet, no font and no image from outside, both themes by what the reader prefers. Every pair of text and ground is legible (WCAG AA). */
export const pageStyle = `
:root{color-scheme:light dark;--ground:#fff;--sheet:#f5f7f9;--ink:#1c2024;--soft:#59626b;--rule:#d5dbe1;--link:#1f4fbf;--good:#1a6b32;--bad:#a3182b;--goodfill:#3c9d5b;--badfill:#d04a4a;--rail:#e3e8ed;--term:#fbfcfd;--cpu:#2a5bd7;--rss:#9a5b00}
@media(prefers-color-scheme:dark){:root{--ground:#14181c;--sheet:#1c2228;--ink:#e8ecf0;--soft:#a7b1bb;--rule:#36404a;--link:#8fb6ff;--good:#7ddc95;--bad:#ff8f8a;--goodfill:#3f9e5d;--badfill:#cf5553;--rail:#2a323a;--term:#0f1316;--cpu:#8fb6ff;--rss:#f0b860}}
*{box-sizing:border-box}
html{font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;background:var(--ground);color:var(--ink);-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:76rem;padding:1.5rem 1.25rem 4rem}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:2px}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:1rem;background:var(--ground);padding:.5rem 1rem;z-index:1}
h1{font-size:1.9rem;line-height:1.2;margin:.25rem 0;overflow-wrap:anywhere}
h2{font-size:1.25rem;margin:2.25rem 0 .75rem;padding-top:.5rem;border-top:1px solid var(--rule)}
h3,h4{margin:0;font-size:1rem;display:inline}
h4{display:block;margin:1.1rem 0 .3rem}
small{color:var(--soft);font-weight:400;font-size:.82rem}
code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.82rem;font-variant-ligatures:none}
.id{overflow-wrap:anywhere}
.verdict{border:1px solid var(--rule);border-left:.5rem solid var(--badfill);background:var(--sheet);border-radius:.4rem;padding:1rem 1.25rem}
.verdict.passed{border-left-color:var(--goodfill)}
.verdict ul{margin:.5rem 0 0;padding-left:1.25rem;overflow-wrap:anywhere}
.passed .outcome,.good{color:var(--good)}
.failed .outcome,.error .outcome,.bad{color:var(--bad)}
.outcome{font-weight:600;white-space:nowrap}
.not_executed .outcome,.note,.took,figcaption,caption{color:var(--soft)}
.note,figcaption,caption{font-size:.88rem;overflow-wrap:anywhere}
.note.bad,.note .bad{color:var(--bad)}
section dl>div{grid-template-columns:7rem minmax(0,1fr)}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(20rem,1fr));gap:0 2rem}
.columns>*{min-width:0}
dl{margin:0;font-size:.9rem}
dl>div{display:grid;grid-template-columns:9.5rem minmax(0,1fr);gap:.75rem;padding:.22rem 0}
dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.88rem}
caption{text-align:left;padding-bottom:.4rem}
th,td{text-align:left;padding:.28rem .6rem .28rem 0;border-bottom:1px solid var(--rule);vertical-align:middle;font-weight:400}
thead th{color:var(--soft);white-space:nowrap}
tbody th{max-width:16rem;overflow-wrap:anywhere}
.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.wide{min-width:9rem;width:22%}
td.wide{white-space:nowrap}
.tag{border:1px solid var(--rule);border-radius:.6rem;padding:0 .4rem}
.bar{display:inline-block;width:100%;height:.6rem;vertical-align:middle}.bar.short{width:calc(100% - 4.6rem);margin-right:.5rem}
.bar .rail{fill:var(--rail)}.bar .fill{fill:var(--badfill)}.bar.passed .fill{fill:var(--goodfill)}
figure{margin:0}
.plot{display:block;width:100%;min-width:38rem;height:auto;font:12px system-ui,sans-serif}
.plot text{fill:var(--soft)}.plot .heading{fill:var(--ink);font-weight:600}
.plot .grid{stroke:var(--rule);stroke-width:1}
.plot .band{fill:var(--rail);opacity:.45}.plot .band.odd{opacity:.8}.plot .band.failed,.plot .band.error{fill:var(--badfill);opacity:.22}
.plot .line{fill:none;stroke-width:1.6;stroke-linejoin:round}.plot .area{opacity:.18}
.plot .line.cpu{stroke:var(--cpu)}.plot .area.cpu,.plot .dot.cpu{fill:var(--cpu)}
.plot .line.rss{stroke:var(--rss)}.plot .area.rss,.plot .dot.rss{fill:var(--rss)}
details.command{border:1px solid var(--rule);border-radius:.4rem;margin:.5rem 0;padding:0 1rem;background:var(--sheet)}
details.command.failed,details.command.error{border-left:.4rem solid var(--badfill)}
details[open]{padding-bottom:1rem}
summary{cursor:pointer;padding:.55rem 0;overflow-wrap:anywhere}
summary h3{margin-right:.75rem}
.took{margin-left:.75rem;font-size:.88rem}
.why{font-weight:600;margin:.25rem 0 .75rem;overflow-wrap:anywhere}
pre{margin:.4rem 0;padding:.7rem .85rem;background:var(--term);border:1px solid var(--rule);border-radius:.3rem;white-space:pre-wrap;overflow-wrap:anywhere;overflow:auto;max-height:32rem;max-width:100%;tab-size:8;direction:ltr;unicode-bidi:isolate;line-height:1.45;contain:content}
pre.argv{max-height:12rem}
.cut{margin:.4rem 0;padding:.5rem .85rem;border:2px dashed var(--soft);border-radius:.3rem;font-size:.88rem;overflow-wrap:anywhere}
.layers{list-style:none;margin:.2rem 0 .5rem;padding:0;columns:2;font-size:.9rem}
.kept{display:inline-block;min-width:4rem;font-weight:600}.kept.kernel{color:var(--good)}.kept.partial{color:var(--rss)}.kept.none{color:var(--soft)}
button{font:inherit;font-size:.88rem;padding:.2rem .8rem;border:1px solid var(--soft);border-radius:.3rem;background:var(--sheet);color:var(--ink);cursor:pointer}
.bo{font-weight:700}.di{opacity:.78}.it{font-style:italic}.un{text-decoration:underline}.st{text-decoration:line-through}
.esc{border:1px dotted var(--soft);border-radius:2px}
${rules(light, lightBack)}
@media(prefers-color-scheme:dark){${rules(dark, darkBack)}}
.in{background:var(--ink);color:var(--ground)}
@media print{details.command{break-inside:avoid}pre{max-height:none}button{display:none}}
@media(max-width:40rem){dl>div{grid-template-columns:1fr;gap:0}.layers{columns:1}}
`;
