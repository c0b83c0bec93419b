export { findSeriousFaults, keepScreenshot, openPage, startBrowser, type OpenedPage } from './browser.ts';
export { startPretendGateway, type PretendGateway } from './pretend-gateway.ts';
export { PretendPageGrid, type PretendPageOptions } from './pretend-page-grid.ts';
export { buildPageIfStale, pageFolder } from './build-page.ts';
