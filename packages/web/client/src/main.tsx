import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { makeGateway } from './gateway/gateway.ts';
import { LiveStore, type Browser } from './gateway/live-store.ts';
import { answerOtherTabs, askOtherTabs, takeToken } from './gateway/token.ts';
import '@xyflow/react/dist/base.css';
import './style/base.css';
import './style/parts.css';
import './style/views.css';
import './style/editor.css';
import './style/forms.css';
import './style/jobs.css';

const place = document.getElementById('page');
if (place === null) throw new Error('the document has no element with the id "page"');
const token = takeToken() || (await askOtherTabs());
if (token !== '') answerOtherTabs(token);
const browser: Browser = {
  fetch: (address, init) => fetch(address, init),
  onNextFrame: (run) => {
    requestAnimationFrame(run);
  },
  every: (milliseconds, run) => {
    setInterval(run, milliseconds);
  },
  now: () => Date.now(),
};
createRoot(place).render(<App gateway={makeGateway(token)} live={new LiveStore(token, browser)} />);
