// Print: what the page changes while the browser prints it, so that nothing needs scrolling or opening.

/** Width of A4 within the margins of the style sheet, in pixels. */
export const PAPER_WIDTH = 700;

const listeners: ((isPrinting: boolean) => void)[] = [];

/** Calls the listener before printing with true and afterwards with false, in the order of their adding. */
export function onPrint(listener: (isPrinting: boolean) => void): void {
  listeners.push(listener);
}

/** Light colours and open folds while printing; to be called before all other listeners are added. */
export function preparePrinting(): void {
  let theme: string | undefined, opened: HTMLDetailsElement[] = [];
  onPrint((isPrinting) => {
    const { dataset } = document.documentElement;
    if (isPrinting) {
      theme = dataset.theme;
      opened = [...document.querySelectorAll<HTMLDetailsElement>("details:not([open])")];
      dataset.theme = "light";
    } else if (theme === undefined) delete dataset.theme;
    else dataset.theme = theme;
    for (const fold of opened) fold.open = isPrinting;
    document.dispatchEvent(new Event("pleat-theme"));
  });
  addEventListener("beforeprint", () => listeners.forEach((listener) => listener(true)));
  addEventListener("afterprint", () => listeners.forEach((listener) => listener(false)));
}
