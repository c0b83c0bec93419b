export { ContentStore, type ContentStoreOptions, type Expectation } from './content-store.ts';
export { fileError } from './file-errors.ts';
export {
  gatheredBegunName, gatheredBegunNumber, gatheredIndexName, gatheredVolumeName, gatheredVolumeNumber, readGatheredIndex, renderGatheredOwner, renderGatheredResult,
  type GatheredFile, type GatheredIndex, type GatheredOwner,
} from './gathered-index.ts';
export { hashFile } from './hash-file.ts';
export { mutiraoHome } from './home.ts';
export { checkHome, prepareHome } from './prepare-home.ts';
export { makePrivateFile } from './make-private-file.ts';
export { resolveInside } from './resolve-inside.ts';
export { findSharedTokens, homeSharedToken, offerSharedToken, type SharedToken } from './shared-tokens.ts';
export { findSiteTokenAt, siteFolder, siteNames, tokenOfProvider } from './site-files.ts';
export { ensureToken, makeToken, readToken, tokenPath } from './token.ts';
export { writeAtomic } from './write-atomic.ts';
export { freeBytes, isFullDisk, Room, type RoomOptions } from './room.ts';
