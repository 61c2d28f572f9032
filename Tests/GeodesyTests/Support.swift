import Geodesy

func near(_ left: Double, _ right: Double, _ tolerance: Double) -> Bool { (left - right).magnitude <= tolerance }

func metres(_ left: Degrees, _ right: Degrees) -> Double { GreatCircle.distance(from: left, to: right) }
