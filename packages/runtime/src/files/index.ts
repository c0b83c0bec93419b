export { fsPath } from './byte-names.ts';
export { describeWorkFolder, findDifference, findFolderAround, isSharedFileSystem } from './work-folder.ts';
export { accountName, keepDebuggerShut, keepOwnFilesUsable } from './account.ts';
export { ContentStore, type ContentStoreOptions, type Expectation } from './content-store.ts';
export { inFolder, makeFolder, mendFolder } from './make-folder.ts';
export { makeFreshFolder, makeNextFolder, removeFreshFolders } from './fresh-folder.ts';
export { readFileId } from '../journal/file-id.ts';
export { fileError } from './file-errors.ts';
export { followLinks, followLinksLater } from './follow-links.ts';
export { inFolderBelow, isPlainName, type HeldFolder } from './folder-below.ts';
export {
  gatheredBegunName,
  gatheredBegunNumber,
  gatheredIndexName,
  gatheredVolumeName,
  gatheredVolumeNumber,
  readGatheredIndex,
  renderGatheredOwner,
  renderGatheredResult,
  type GatheredFile,
  type GatheredIndex,
  type GatheredOwner,
} from './gathered-index.ts';
export { hashFile, hashHandle, hashRegular } from './hash-file.ts';
export { mutiraoHome } from './home.ts';
export { checkHome, prepareHome } from './prepare-home.ts';
export { makePrivateFile } from './make-private-file.ts';
export { requireUsableHost } from './require-usable-host.ts';
export { removalScript } from './removal/removal-script.ts';
export { isRemoved, removedFolder, removeUnderOtherName } from './removed-folder.ts';
export { resolveInside } from './resolve-inside.ts';
export { findHomeKeys, getHomeKey, offerHomeKey, type HomeKey } from './home-keys.ts';
export {
  isSameProof,
  makeChallenge,
  markHome,
  noProofs,
  proveDropFolder,
  provePath,
  proveReading,
  type ProvenFile,
} from './home-proofs.ts';
export { HomeProver } from './home-prover.ts';
export { ownDatabase } from './own-database.ts';
export { openRegular, readRegular } from './open-regular.ts';
export { findSiteTokenAt, siteFolder, siteNames, tokenOfProvider } from './site-files.ts';
export { ensureToken, makeToken, metricsTokenPath, readToken, tokenPath } from './token.ts';
export { RotatingFile, type RotatingFileOptions } from './rotating-file.ts';
export { writeAtomic } from './write-atomic.ts';
export { writeDescriptor } from './write-descriptor.ts';
export { freeBytes, isFullDisk, Room, type RoomOptions } from './room.ts';
export {
  describeLeft,
  openUpFolder,
  removeTree,
  removeTreeLater,
  type LeftBehind,
  type Removal,
  type RemovalOptions,
} from './removal/remove-tree.ts';
export { parseMounts, type MountLine, type Mounts } from './removal/mounts.ts';
