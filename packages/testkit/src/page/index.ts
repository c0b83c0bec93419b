export { findSeriousFaults, keepScreenshot, openPage, startBrowser, type OpenedPage } from './browser.ts';
export { startFakeGateway, type FakeGateway } from './fake-gateway.ts';
export { FakePageGrid, type FakePageOptions } from './fake-page-grid.ts';
export { buildPageIfStale, pageFolder } from './build-page.ts';
