// 3Dmol: the part of its interface that the page uses.
declare module "3dmol/build/3Dmol.es6-min.js" {
  export interface Atom {
    atom: string;
    resn: string;
    resi: number;
    chain: string;
    b: number;
    x: number;
    y: number;
    z: number;
  }
  export interface GLModel {
    setStyle(selection: object, style: object): void;
    selectedAtoms(selection: object): Atom[];
    hide(): void;
    show(): void;
  }
  export interface GLViewer {
    addModel(text: string, format: string, options?: object): GLModel;
    removeAllModels(): void;
    removeAllShapes(): void;
    removeAllLabels(): void;
    addCylinder(options: object): void;
    addSphere(options: object): void;
    addCurve(options: object): void;
    setStyle(selection: object, style: object): void;
    addStyle(selection: object, style: object): void;
    setHoverable(selection: object, on: boolean, over: (atom: Atom) => void, out: () => void): void;
    setClickable(selection: object, on: boolean, press: (atom: Atom) => void): void;
    setBackgroundColor(colour: string, alpha: number): void;
    zoomTo(selection?: object): void;
    rotate(angle: number, axis: string): void;
    zoom(factor: number): void;
    render(): void;
    resize(): void;
    pngURI(): string;
  }
  export function createViewer(element: HTMLElement, options: object): GLViewer;
}
